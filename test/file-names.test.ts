/** Names of files in documentation and comments: a stranger who follows one has to arrive. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));
const folders = ['bench', 'conformance', 'docs', 'examples', 'mutation', 'scripts', 'src', 'test'];
const files = [...readdirSync(root).filter((name) => name.endsWith('.md')), ...folders.flatMap(filesUnder)];
const paths = new Set(files.flatMap((file) => [file, ...foldersOf(file)]));

/** Names that are examples, by the file that has them. */
const examples: Readonly<Record<string, readonly string[]>> = {
  'CONTRIBUTING.md': ['./file.ts', 'name.test.ts'],
  'conformance/source-package.ts': ['src/test'],
  'conformance/suite-checkout.ts': ['conformance/sources'],
  'examples/analyze/deposit/src/accounts.ts': ['../application.ts'],
  'src/analyze/program-text.ts': ['1-lost-update.program.ts'],
  'src/analyze/source/units.ts': ['app/payments/route.ts'],
  'src/engine/postgres/storage.ts': ['src/backend/access/heap/README.tuplock'],
  'src/engine/postgres/table.ts': ['src/backend/access/heap/README.HOT'],
  'src/sql/plan/implied-constant.ts': ['src/backend/optimizer/README'],
  'src/sql/expressions/hash-text.ts': ['src/common/hashfn.c'],
  'test/support/everyday-applications.ts': ['app.ts'],
};

test('files that documentation and comments name are there', () => {
  const texts = files.filter((file) => /\.(?:md|ts)$/.test(file) && file !== 'CHANGELOG.md');
  expect(texts.length).toBeGreaterThan(0);
  const named = texts.flatMap((file) => namesIn(file).map((name) => ({ file, name })));
  expect(named.length).toBeGreaterThan(100);
  const missing = named.filter(({ file, name }) => !isThere(name) && !(examples[file] ?? []).includes(name));
  expect(missing).toEqual([]);
});

/** In backquotes: a path from the root of the repository, or the name of a source file with its folders as far as they are given. */
function namesIn(file: string): string[] {
  const text = readFileSync(`${root}${file}`, 'utf8');
  const prose = file.endsWith('.md') ? text : [...text.matchAll(/\/\*\*.*?\*\/|\/\/[^\n]*/gs)].map(String).join('\n');
  const pattern =
    /`((?:[\w.@-]+\/)*[\w.-]+\.(?:ts|md)|(?:bench|conformance|docs|examples|mutation|src|test)\/[\w./-]*)`/g;
  return [...prose.matchAll(pattern)].map(([, name = '']) => name.replace(/\/$/, ''));
}

function isThere(name: string): boolean {
  const path = name.replace(/^(?:\.{1,2}\/)+/, '');
  return paths.has(path) || files.some((file) => file.endsWith(`/${path}`));
}

function filesUnder(folder: string): string[] {
  return readdirSync(`${root}${folder}`, { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (!entry.isDirectory()) return [path];
    return entry.name === 'node_modules' ? [] : filesUnder(path);
  });
}

function foldersOf(file: string): string[] {
  const folder = dirname(file);
  return folder === '.' ? [] : [folder, ...foldersOf(folder)];
}
