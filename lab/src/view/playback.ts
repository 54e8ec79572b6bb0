// Time: played, slowed, paused, moved by hand.

import { byId } from "./dom";

/** Seconds of the run a second of the screen. */
const SPEEDS = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10];

export class Playback {
  time: number | null = null;
  speed = 1;
  isPlaying = false;
  private duration = 1;
  private last = 0;
  /** When frames were drawn, for those who measure. */
  readonly frames: number[] = [];

  private readonly play = byId<HTMLButtonElement>("play");
  private readonly slider = byId<HTMLInputElement>("time");
  private readonly pace = byId<HTMLSelectElement>("speed");
  private readonly words = byId<HTMLOutputElement>("moment");

  constructor(private readonly show: (time: number, speed: number) => void) {
    for (const speed of SPEEDS) {
      const text = speed >= 1 ? `${speed} ×` : `1 / ${Math.round(1 / speed)}`;
      this.pace.append(new Option(text, String(speed), speed === 1, speed === 1));
    }
    this.pace.addEventListener("change", () => (this.speed = Number(this.pace.value)));
    this.play.addEventListener("click", () => this.toggle());
    this.slider.addEventListener("input", () => this.seek((Number(this.slider.value) / 1000) * this.duration));
    addEventListener("keydown", (event) => {
      const target = event.target as HTMLElement;
      if (["INPUT", "SELECT", "TEXTAREA", "BUTTON", "SUMMARY", "A"].includes(target.tagName)) return;
      if (event.key === " ") {
        event.preventDefault();
        this.toggle();
      }
      if (event.key === "ArrowRight") this.step(1);
      if (event.key === "ArrowLeft") this.step(-1);
    });
    byId("back").addEventListener("click", () => this.step(-1));
    byId("forth").addEventListener("click", () => this.step(1));
  }

  /** Goes at the speed there is that is nearest. */
  pacedAt(speed: number): void {
    const far = (each: number): number => Math.abs(Math.log(each / speed));
    this.speed = SPEEDS.reduce((best, each) => (far(each) < far(best) ? each : best));
    this.pace.value = String(this.speed);
  }

  private step(direction: number): void {
    this.pause();
    this.seek((this.time ?? 0) + direction * this.speed * 0.1);
  }

  /** A run of so many seconds is shown; time stays where it is if there is such a time. */
  over(duration: number): void {
    this.duration = duration;
    const usual = Math.min(duration, duration / 3);
    this.seek(this.time === null ? usual : Math.min(this.time, duration));
  }

  seek(time: number): void {
    this.time = Math.max(0, Math.min(time, this.duration));
    this.slider.value = String(Math.round((1000 * this.time) / this.duration));
    const digits = this.speed < 0.01 ? 5 : this.speed < 0.1 ? 4 : this.speed < 1 ? 3 : 2;
    const text = `${this.time.toFixed(digits)} s`;
    this.words.textContent = text;
    this.slider.setAttribute("aria-valuetext", text);
    this.show(this.time, this.speed);
  }

  toggle(): void {
    if (this.isPlaying) return this.pause();
    if ((this.time ?? 0) >= this.duration) this.time = 0;
    this.isPlaying = true;
    this.play.textContent = "Pause";
    this.last = performance.now();
    requestAnimationFrame((now) => this.frame(now));
  }

  pause(): void {
    this.isPlaying = false;
    this.play.textContent = "Play";
  }

  private frame(now: number): void {
    if (!this.isPlaying) return;
    this.frames.push(now);
    if (this.frames.length > 600) this.frames.shift();
    const elapsed = Math.min(0.1, Math.max(0, now - this.last) / 1000);
    this.last = now;
    this.seek((this.time ?? 0) + elapsed * this.speed);
    if ((this.time ?? 0) >= this.duration) this.pause();
    else requestAnimationFrame((next) => this.frame(next));
  }
}
