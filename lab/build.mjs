// Makes the page: one file with its style, its program, its worker and the engine in it, so that it opens from a folder and without
// a network. Argument: the engine, as cargo made it.

import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { buildSync } from "esbuild";
import { SCHEMA } from "./schema.mjs";

const [engine = "../target/wasm32-unknown-unknown/page/sojourn_wasm.wasm"] = process.argv.slice(2);
const read = (path) => readFileSync(new URL(path, import.meta.url), "utf8");

/** A program as one classic script. What would end the element that it stands in is written so that it does not. */
function bundled(entry, format = "iife") {
  const { outputFiles } = buildSync({
    entryPoints: [new URL(entry, import.meta.url).pathname],
    bundle: true,
    minify: true,
    write: false,
    format,
    target: "es2022",
    charset: "ascii",
    legalComments: "none",
    define: { SCHEMA: JSON.stringify(SCHEMA) },
  });
  return outputFiles[0].text;
}

const inline = (script) => script.replaceAll("</script", "<\\/script").replaceAll("<!--", "<\\!--");

const parts = {
  STYLE: read("node_modules/uplot/dist/uPlot.min.css") + read("src/style.css"),
  ENGINE: gzipSync(readFileSync(engine), { level: 9 }).toString("base64"),
  WORKER: inline(bundled("src/engine/worker.ts")),
  PAGE: inline(bundled("src/main.ts")),
};
let page = read("src/index.html");
for (const [name, text] of Object.entries(parts)) page = page.replace(`/*${name}*/`, () => text);
mkdirSync(new URL("dist", import.meta.url), { recursive: true });
writeFileSync(new URL("dist/laboratory.html", import.meta.url), page);
// `sojourn lab` opens it, from a source tree and from a wheel.
writeFileSync(new URL("../python/sojourn/laboratory.html", import.meta.url), page);
// What tests and measurements call without a browser: the same modules.
writeFileSync(new URL("dist/lab.mjs", import.meta.url), bundled("src/node.ts", "esm"));
copyFileSync(engine, new URL("dist/engine.wasm", import.meta.url));
console.log(`lab/dist/laboratory.html: ${Math.round(page.length / 1000)} kB`);
