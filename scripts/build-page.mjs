// The HTML report as one file: script and style inside, and a policy that lets nothing else in. Its data is put in when a report is written
// (src/report/page/html-page.ts).
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { root } from './entry-points.mjs';

/** Without its data. */
const BYTES_MAX = 150_000;

export async function buildPage() {
  const made = await build({
    absWorkingDir: root,
    entryPoints: ['page/main.tsx', 'page/page.css'],
    conditions: ['moirai-source'],
    bundle: true,
    minify: true,
    write: false,
    outdir: 'dist',
    format: 'iife',
    platform: 'browser',
    target: ['chrome110', 'firefox113', 'safari16.4'],
    jsx: 'automatic',
    jsxImportSource: 'preact',
    legalComments: 'none',
    logLevel: 'warning',
  });
  const textOf = (ending) => made.outputFiles.find(({ path }) => path.endsWith(ending)).text.trim();
  const [script, style] = [textOf('.js'), textOf('.css')];
  assert.doesNotMatch(script, /<\/script|<!--/i, 'the script would end its element');
  assert.doesNotMatch(style, /<\/style/i, 'the style would end its element');
  const parts = { script, style, 'script-hash': hashOf(script), 'style-hash': hashOf(style) };
  const page = readFileSync(join(root, 'page/index.html'), 'utf8').replaceAll(
    /\{(script|style|script-hash|style-hash)\}/g,
    (_, name) => parts[name],
  );
  assert.ok(Buffer.byteLength(page) < BYTES_MAX, `the page has ${Buffer.byteLength(page)} bytes`);
  writeFileSync(join(root, 'dist/report-page.html'), page);
}

/** CSP Level 3, 4.2.3: of the text of the element. */
function hashOf(text) {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}
