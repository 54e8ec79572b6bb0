// Runs the tests of the page's modules, src/**/*.test.ts, in Node.

import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run } from "node:test";
import { spec } from "node:test/reporters";
import { buildSync } from "esbuild";
import { SCHEMA } from "./schema.mjs";

const source = new URL("src/", import.meta.url).pathname;
const entryPoints = readdirSync(source, { recursive: true })
  .filter((name) => name.endsWith(".test.ts"))
  .map((name) => join(source, name));
const outdir = mkdtempSync(join(tmpdir(), "sojourn-lab-"));
buildSync({
  entryPoints,
  outdir,
  outExtension: { ".js": ".mjs" },
  bundle: true,
  format: "esm",
  platform: "node",
  target: "es2022",
  define: { SCHEMA: JSON.stringify(SCHEMA) },
});
const files = readdirSync(outdir, { recursive: true, withFileTypes: true })
  .filter((each) => each.isFile())
  .map((each) => join(each.parentPath, each.name));
let failed = 0;
run({ files, concurrency: true })
  .on("test:fail", () => {
    failed += 1;
  })
  .on("close", () => {
    rmSync(outdir, { recursive: true });
    process.exitCode = failed ? 1 : 0;
  })
  .compose(spec)
  .pipe(process.stdout);
