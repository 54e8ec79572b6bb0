// The search's worker where the site is opened from a folder: browsers start no worker from a file (HTML, "run a worker": its
// script is to be of the page's own origin, and a file has none). A hidden frame stands for it.
"use strict";

if (location.protocol === "file:") {
  window.IFrameWorker = class extends EventTarget {
    constructor(address) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      const inside = frame.contentWindow;
      const add = (url) =>
        new Promise((loaded, failed) => {
          const script = inside.document.createElement("script");
          Object.assign(script, { src: url, onload: loaded, onerror: failed });
          inside.document.body.append(script);
        });
      inside.importScripts = (...urls) => urls.reduce((before, url) => before.then(() => add(url)), Promise.resolve());
      inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      this.ready = add(new URL(address, document.baseURI));
      this.inside = inside;
    }

    postMessage(data) {
      this.ready.then(() => this.inside.dispatchEvent(new MessageEvent("message", { data })));
    }
  };
  window.Worker = window.IFrameWorker;
}
