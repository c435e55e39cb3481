import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { describe, expect, test } from 'vitest';
import { entryPoints, root } from '../scripts/entry-points.mjs';
import { circlesOf, folderOnCycle, importsWithin, scanImports, type MayImport } from './support/import-direction.ts';
import { readSources } from './support/source-files.ts';
import { importSpecifiers } from './support/source-text.ts';

const model = ['isolation', 'history', 'base'];
const belowTools = ['evidence', 'program', 'sql', 'wire', 'states', ...model];

const sources = readSources();

/** Dependencies point one way. A new folder of src starts with its row here. */
const mayImport: MayImport = {
  base: [],
  // What a tool looked at, and the one place that turns it into a verdict.
  evidence: [],
  wire: [],
  // Writes files, for the command line.
  files: ['base'],
  history: ['base'],
  trace: ['history', 'base'],
  isolation: ['history', 'base'],
  states: model,
  program: ['evidence', ...model],
  sql: ['base'],
  report: ['trace', ...model],
  mockdb: belowTools,
  // Failing runs as files.
  failures: ['base'],
  // Rows, versions and locks; the database puts sessions and a scheduler in front of them, serve the protocols and sockets.
  engine: ['mockdb', ...belowTools],
  database: ['engine', 'mockdb', 'report', ...belowTools],
  serve: ['database', ...belowTools],
  'sql-program': ['serve', 'database', 'engine', 'mockdb', 'report', ...belowTools],
  // Tools do not import tools: they meet as values. Two exceptions, named in the design: analyze confirms what it suspects by exploring the
  // program that it makes, and replay has explore find the failing run.
  campaign: ['sql-program', 'database', 'mockdb', 'report', ...belowTools],
  explore: ['sql-program', 'database', 'engine', 'mockdb', 'report', ...belowTools],
  replay: ['explore', 'sql-program', 'serve', 'database', 'report', ...belowTools],
  check: belowTools,
  verify: ['trace', ...belowTools],
  protocol: belowTools,
  capture: ['trace', 'files', ...belowTools],
  analyze: ['explore', 'sql-program', 'serve', 'database', 'trace', 'report', ...belowTools],
};
const folders = Object.keys(mayImport);
const table: MayImport = { ...mayImport, api: folders, cli: [...folders, 'api'] };

test('src imports in the allowed directions only', () => {
  const scan = scanImports(sources, table);
  expect(scan.violations).toEqual([]);
  expect(scan.files).toBeGreaterThan(0);
  expect(scan.imports).toBeGreaterThan(0);
});

test('the table allows no cycle between folders', () => {
  expect(folderOnCycle(table)).toBeUndefined();
  expect(folderOnCycle({ a: ['b'], b: ['c'], c: ['b'] })).toBe('b');
});

const map = readFileSync(`${root}docs/architecture.md`, 'utf8');

/** The circles that the map gives a reason for: `- \`src/sql/run\`: \`a.ts\`, \`b.ts\`. The reason.` */
const defended = [...map.matchAll(/^- `(src\/[\w/]+)`: ((?:`[\w-]+\.ts`,? ?)+)/gm)].map(([, folder, files = '']) =>
  [...files.matchAll(/[\w-]+\.ts/g)].map(([file]) => `${folder}/${file}`).toSorted(),
);

test('files import each other only where docs/architecture.md says why, not even for a type', () => {
  expect(defended).not.toEqual([]);
  const circles = Object.keys(table).flatMap((folder) => {
    const imports = importsWithin(folder, sources);
    expect(Object.keys(imports)).not.toEqual([]);
    return circlesOf(imports);
  });
  expect(new Set(circles)).toEqual(new Set(defended));
});

test('a circle of types is found', () => {
  const files: [string, string][] = [
    ['src/base/a.ts', `import type { B } from './b.ts';`],
    ['src/base/b.ts', `export { c } from './c.ts';`],
    ['src/base/c.ts', `import { type A } from './a.ts';`],
    ['src/base/c.test.ts', `import { d } from './d.ts';`],
    ['src/base/d.ts', `import { c } from './c.ts';`],
  ];
  const circle = ['a', 'b', 'c'].map((name) => `src/base/${name}.ts`);
  expect(circlesOf(importsWithin('base', new Map(files)))).toEqual([circle]);
  expect(circlesOf(importsWithin('base', new Map(files.slice(1))))).toEqual([]);
});

test('what benchmarks and conformance suites import by name is built', () => {
  const files = ['bench', 'conformance', 'mutation'].flatMap((folder) =>
    readdirSync(`${root}${folder}`, { recursive: true }).map((file) => `${root}${folder}/${String(file)}`),
  );
  const imported = files
    .filter((file) => file.endsWith('.ts'))
    .flatMap((file) => importSpecifiers(readFileSync(file, 'utf8')))
    .filter((specifier) => specifier.startsWith('#moirai/'));
  expect(imported).toContain('#moirai/database');
  const missing = imported.filter((name) => !entryPoints.has(`${name.replace('#moirai', './src')}/index.ts`));
  expect(missing).toEqual([]);
});

/** Only `await import` may load it. */
test('a command starts without the SQL engine', async () => {
  const absWorkingDir = fileURLToPath(new URL('..', import.meta.url));
  const { metafile } = await build({
    absWorkingDir,
    entryPoints: ['src/cli/main.ts'],
    outdir: 'nowhere',
    write: false,
    metafile: true,
    bundle: true,
    splitting: true,
    packages: 'external',
    format: 'esm',
    platform: 'node',
  });
  const loaded = new Set(['nowhere/main.js']);
  for (const file of loaded)
    for (const { path, kind, external } of metafile.outputs[file]?.imports ?? [])
      if (kind === 'import-statement' && external !== true) loaded.add(path);
  const files = [...loaded].flatMap((file) => Object.keys(metafile.outputs[file]?.inputs ?? {}));
  expect(files).toContain('src/cli/command-line.ts');
  expect(files.filter((file) => /^src\/(?:sql|engine|serve)\//.test(file))).toEqual([]);
});

describe('scanImports reports', () => {
  const fine: [string, string] = ['src/history/parse.ts', `import { assert } from '../base/index.ts';`];
  test.each([
    ['an upward import', 'src/base/clock.ts', `import '../history/model.ts';`, 'base may not import history'],
    [
      'a type import',
      'src/check/check.ts',
      `import type { A } from '../explore/a.ts';`,
      'check may not import explore',
    ],
    [
      'a re-export',
      'src/history/index.ts',
      `export { a } from '../isolation/a.ts';`,
      'history may not import isolation',
    ],
    ['a dynamic import', 'src/mockdb/a.ts', `await import('../cli/main.ts');`, 'mockdb may not import cli'],
    ['the front door', 'src/mockdb/a.ts', `import { b } from '../api/index.ts';`, 'mockdb may not import api'],
    ['a file behind a door', 'src/check/a.ts', `import { b } from '../base/assert.ts';`, 'past the index.ts of base'],
    [
      'a file behind the door of a room within a folder',
      'src/explore/a.ts',
      `import { b } from './sql/b.ts';`,
      'past the index.ts of explore/sql',
    ],
    [
      'a room in another folder, from a room',
      'src/explore/sql/b.ts',
      `import { b } from '../a.ts';`,
      'past the index.ts of explore',
    ],
    ['the front door by name', 'src/check/a.ts', `import { b } from 'moirai/history';`, 'imports are relative'],
    ['cli from the front door', 'src/api/index.ts', `export { a } from '../cli/main.ts';`, 'api may not import cli'],
    ['a file outside src', 'src/check/a.ts', `import { a } from '../../test/a.ts';`, 'outside src'],
    ['an example outside tests', 'src/check/a.ts', `import a from '../../examples/a.ts';`, 'outside src'],
    ['an unknown folder', 'src/utils/a.ts', `import 'node:path';`, 'src/utils: not in the table'],
  ])('%s', (_name, file, text, violation) => {
    expect(scanImports(new Map([fine, [file, text]]), table).violations).toEqual([expect.stringContaining(violation)]);
  });

  test('an empty scan', () => {
    const reported = ['no source file was scanned', 'no import was found'];
    expect(scanImports(new Map(), table).violations).toEqual(reported);
  });

  test('nothing about imports in the allowed direction', () => {
    expect(scanImports(new Map([fine]), table)).toEqual({ files: 1, imports: 1, violations: [] });
    const unitTest: [string, string] = ['src/check/a.test.ts', `import a from '../../examples/a.ts';`];
    expect(scanImports(new Map([unitTest]), table)).toEqual({ files: 1, imports: 1, violations: [] });
  });
});

describe('importSpecifiers finds', () => {
  test.each([
    ['a side effect', `import './a.ts';`],
    ['names', `import { a, type B } from "./a.ts";`],
    ['a default and names over lines', `import a, {\n  b,\n  c,\n} from './a.ts';`],
    ['a namespace', `import * as a from './a.ts';`],
    ['a type', `import type { A } from './a.ts';`],
    ['a re-export', `export { a } from './a.ts';`],
    ['a re-export of types', `export type { A } from './a.ts';`],
    ['a re-export of all', `export * from './a.ts';`],
    ['a dynamic import', `const a = await import(\n  './a.ts'\n);`],
    ['an import type', `type A = typeof import('./a.ts');`],
    ['an import after a string and a regular expression', `const q = /['"]/; const r = "it's"; import('./a.ts');`],
  ])('%s', (_name, text) => expect(importSpecifiers(text)).toEqual(['./a.ts']));
});

describe('importSpecifiers passes over', () => {
  test.each([
    ['a line comment', `// import './a.ts'`],
    ['a block comment', `/**\n * import { a } from './a.ts';\n */`],
    ['a string', `const text = "import './a.ts'";`],
    ['a template', `const text = \`\nimport { a } from './a.ts';\n\`;`],
    ['exported values', `export const from = './a.ts';\nexport interface E { readonly from: './a.ts' }`],
    ['import.meta', `const here = import.meta.url;`],
  ])('%s', (_name, text) => expect(importSpecifiers(text)).toEqual([]));
});
