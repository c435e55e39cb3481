import { posix } from 'node:path';
import type { SourceFiles } from './source-files.ts';
import { importSpecifiers } from './source-text.ts';

/** Which folders of src each folder may import; itself always. */
export type MayImport = Readonly<Record<string, readonly string[]>>;

export interface ImportScan {
  readonly files: number;
  readonly imports: number;
  readonly violations: readonly string[];
}

/** A scan that saw nothing is a violation too: a rule that checks no file is always green. */
export function scanImports(sources: SourceFiles, mayImport: MayImport): ImportScan {
  const imports = [...sources].flatMap(([file, text]) =>
    importSpecifiers(text).map((specifier) => ({ file, specifier })),
  );
  const violations = [
    ...[...new Set([...sources.keys()].map(folderOf))]
      .filter((folder) => !Object.hasOwn(mayImport, folder))
      .map((folder) => `src/${folder}: not in the table of who may import whom`),
    ...imports.flatMap(({ file, specifier }) => violationsOf(file, specifier, mayImport)),
  ];
  if (sources.size === 0) violations.push('no source file was scanned');
  if (imports.length === 0) violations.push('no import was found');
  return { files: sources.size, imports: imports.length, violations };
}

/** A folder that is reachable from itself, or undefined. Every violation-free source then has no cycle of folders. */
export function folderOnCycle(mayImport: MayImport): string | undefined {
  return Object.keys(mayImport).find((folder) => reachable(folder, mayImport).has(folder));
}

/** Files that import each other, directly or by way of others: each circle with its files in order. */
export function circlesOf(mayImport: MayImport): string[][] {
  const reached = new Map(Object.keys(mayImport).map((file) => [file, reachable(file, mayImport)]));
  const circles = [...reached]
    .filter(([file, others]) => others.has(file))
    .map(([file, others]) => [...others].filter((other) => reached.get(other)?.has(file) === true).toSorted());
  return [...new Map(circles.map((circle) => [circle.join(), circle])).values()];
}

/** Which files of a folder of src import which others of it, for values or types. Tests are left out. */
export function importsWithin(folder: string, sources: SourceFiles): MayImport {
  const isInside = (file: string): boolean => folderOf(file) === folder && !/\.test(-support)?\.ts$/.test(file);
  const files = [...sources].filter(([file]) => isInside(file));
  return Object.fromEntries(
    files.map(([file, text]) => [
      file,
      importSpecifiers(text)
        .map((specifier) => posix.join(posix.dirname(file), specifier))
        .filter(isInside),
    ]),
  );
}

function violationsOf(file: string, specifier: string, mayImport: MayImport): string[] {
  if (/^moirai(\/|$)/.test(specifier)) return [`${file} imports '${specifier}': inside src, imports are relative`];
  if (!specifier.startsWith('.')) return [];
  const target = posix.join(posix.dirname(file), specifier);
  // An example is what a unit test of the code that runs examples is about.
  if (file.endsWith('.test.ts') && target.startsWith('examples/')) return [];
  if (!target.startsWith('src/')) return [`${file} imports '${specifier}': outside src`];
  const [from, to] = [folderOf(file), folderOf(target)];
  const allowed = from === to || mayImport[from]?.includes(to);
  if (!allowed) return [`${file} imports '${specifier}': ${from} may not import ${to}`];
  // The front door opens onto every room; tests look inside.
  if (to === 'api' || /\.test(-support)?\.ts$/.test(file)) return [];
  const room = roomOf(target);
  if (room === roomOf(file) || target.endsWith('/index.ts')) return [];
  return [`${file} imports '${specifier}': past the index.ts of ${room}`];
}

/** Folders with an `index.ts` of their own within a folder of src: what is around them sees that file only. */
const rooms = [
  'campaign/sql',
  ...['assumptions', 'dialect', 'instance', 'session', 'settings', 'statement'].map((room) => `database/${room}`),
  'explore/sql',
  'sql/model',
  'wire/mysql',
  'wire/postgres',
];

function roomOf(file: string): string {
  return rooms.find((room) => file.startsWith(`src/${room}/`)) ?? folderOf(file);
}

/** 'src/history/model.ts' is in history. */
function folderOf(file: string): string {
  return file.split('/')[1]?.replace(/\.tsx?$/, '') ?? '';
}

function reachable(start: string, mayImport: MayImport): ReadonlySet<string> {
  const found = new Set<string>();
  const waiting = [...(mayImport[start] ?? [])];
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    if (found.has(folder)) continue;
    found.add(folder);
    waiting.push(...(mayImport[folder] ?? []));
  }
  return found;
}
