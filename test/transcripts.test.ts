/**
 * What the documents show is what happens. In README.md, docs and examples:
 *
 * - a `console` block holds commands, lines that start with "$ ", each followed by exactly what it prints on standard output. They run in
 *   a shell in a folder that has the examples, where `moirai` is the built command line; those that need no shell, one after the other in one
 *   process. What a block leaves there, such as failing runs, is there for the rest of the block only.
 * - a `ts` block is a module in the root of the repository and must type-check; `ts run` says that it is executed too. In the
 *   docstrings of the front door an `@example` is such a module, and prints what its `// prints:` lines say. All of them run in one process.
 */
import { chmodSync, existsSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { build, type Ended, root, runProcess, UserFolder } from './support/cli.ts';
import { CommandProcess } from './support/command-process.ts';
import { examplesIn, printsOf, runTogether } from './support/docstring-examples.ts';
import { type CodeBlock, codeBlocks, commandsOf } from './support/markdown.ts';
import { typeErrors } from './support/type-check.ts';

const documents = ['README.md', ...markdownIn('docs'), ...markdownIn('examples')];
const blocks = documents.flatMap((file) =>
  codeBlocks(readFileSync(join(root, file), 'utf8')).map((block) => ({ file, ...block })),
);
const commands = blocks
  .filter(({ language }) => language === 'console')
  .flatMap((block) =>
    commandsOf(block).map(({ command, output, line }) => ({ at: `${block.file}:${line}`, block, command, output })),
  );
const modules = blocks.filter(({ language }) => language === 'ts');
const doors = readdirSync(join(root, 'src/api')).map((name) => `src/api/${name}`);
const examples = doors.flatMap((file) =>
  examplesIn(readFileSync(join(root, file), 'utf8')).map((block) => ({ file, ...block })),
);

const failures = { MOIRAI_FAILURES: '.moirai/failures' };
const folder = new UserFolder();
const together = new CommandProcess(failures);
/** Of each block with commands. */
const folders = new Map<object, UserFolder>();

beforeAll(async () => {
  folder.write({
    'bin/moirai': `#!/bin/sh\nexec '${process.execPath}' '${join(root, 'dist/cli/main.js')}' "$@"\n`,
    'node_modules/.keep': '',
  });
  chmodSync(join(folder.path, 'bin/moirai'), 0o755);
  symlinkSync(root, join(folder.path, 'node_modules/moirai'));
  // A driver that blocks use, as their readers have it.
  symlinkSync(join(root, 'node_modules/pg'), join(folder.path, 'node_modules/pg'));
  symlinkSync(join(root, 'examples'), join(folder.path, 'examples'));
  await build();
}, 120_000);
afterAll(async () => {
  await together.stop();
  for (const each of [folder, ...folders.values()]) each.remove();
});

function folderOf(block: object): string {
  const known = folders.get(block);
  if (known !== undefined) return known.path;
  const made = new UserFolder();
  symlinkSync(join(root, 'examples'), join(made.path, 'examples'));
  made.write({ 'node_modules/.keep': '' });
  symlinkSync(join(root, 'node_modules/pg'), join(made.path, 'node_modules/pg'));
  folders.set(block, made);
  return made.path;
}

test('the documents show commands and modules', () => {
  expect(commands.length).toBeGreaterThan(0);
  expect(modules.length).toBeGreaterThan(0);
});

test('the first 40 lines of the README have the picture, the installation and a SQL test that fails', () => {
  const top = readFileSync(join(root, 'README.md'), 'utf8').split('\n').slice(0, 40).join('\n');
  const [, picture = ''] = /^!\[[^\]]+\]\((\S+)\)$/m.exec(top) ?? [];
  expect(existsSync(join(root, picture))).toBe(true);
  expect(top).toContain('\nnpm install --save-dev moirai');
  expect(top).toContain("import pg from 'pg';");
  expect(top).toMatch(/\n\$ moirai test examples\/sql-transfer\.ts\nviolated in /);
});

describe('every command prints what is shown', () => {
  test.each(commands)('$at $command', async ({ block, command, output }) => {
    const cwd = folderOf(block);
    const { out, err } = await (needsShell(command) ? inShell(command, cwd) : together.run(words(command), cwd));
    expect({ out, err }).toEqual({ out: output, err: expect.any(String) });
  });
});

/** Is it more than `moirai`, options and names of files? */
function needsShell(command: string): boolean {
  return !/^moirai(?: [\w./-]+)+$/.test(command);
}

function words(command: string): string[] {
  return command.split(' ').slice(1);
}

function inShell(command: string, cwd: string): Promise<Ended> {
  const path = join(folder.path, 'bin') + delimiter + (process.env['PATH'] ?? '');
  return runProcess('/bin/sh', ['-c', command], { cwd, env: { ...failures, PATH: path } });
}

test('every module type-checks', () => {
  expect(typeErrors(new Map([...modules, ...examples].map((block) => [nameOf(block), block.text])))).toEqual([]);
});

test('modules that are executed end well, and examples of docstrings print what they say', async () => {
  const executed = modules.filter(({ notes }) => notes.includes('run'));
  expect(executed.length).toBeGreaterThan(0);
  const files = [...executed, ...examples].map((block) => ({ name: nameOf(block), text: block.text }));
  const printed = await runTogether(files, folder);
  const ofExamples = Object.fromEntries(examples.map((block) => [nameOf(block), printsOf(block.text)]));
  expect(printed).toEqual({ ...printed, ...ofExamples });
  expect(Object.keys(printed)).toEqual(files.map(({ name }) => name));
});

test('every entry point of the package is a module of src/api with an example', () => {
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    readonly exports: Readonly<Record<string, string | { readonly 'moirai-source': string }>>;
  };
  const sources = Object.entries(exports).flatMap(([name, target]) =>
    typeof target === 'string' ? [] : [{ name, source: target['moirai-source'].replace('./', '') }],
  );
  expect(sources.filter(({ source }) => !doors.includes(source))).toEqual([]);
  // The preload exports nothing: transcripts and the check of the package show it.
  const shown = new Set(['src/api/record.ts', ...examples.map(({ file }) => file)]);
  expect(sources.filter(({ source }) => !shown.has(source))).toEqual([]);
});

describe('the tests of the documents themselves', () => {
  test('code blocks are found with their language, notes and line', () => {
    const text = 'text\n\n```ts run\nconst a = 1;\n```\n\n````md\n```\nnested\n```\n````\n```\n```\n';
    expect(codeBlocks(text)).toEqual([
      { language: 'ts', notes: ['run'], text: 'const a = 1;\n', line: 4 },
      { language: 'md', notes: [], text: '```\nnested\n```\n', line: 8 },
      { language: '', notes: [], text: '', line: 13 },
    ]);
    expect(() => codeBlocks('```ts\nconst a')).toThrow('the code block at line 1 has no end');
  });

  test('examples of docstrings are found with their line and what they print', () => {
    const text =
      '/**\n * Adds.\n *\n * @example\n * ```ts\n * console.log(1);\n * // prints: 1\n * ```\n */\nexport const a = 1;\n';
    const [example, ...others] = examplesIn(text);
    expect(others).toEqual([]);
    expect(example).toMatchObject({ language: 'ts', text: 'console.log(1);\n// prints: 1\n', line: 6 });
    expect(printsOf(example?.text ?? '')).toEqual(['1']);
  });

  test('commands are found with what they print', () => {
    const block = { language: 'console', notes: [], text: '$ a\n1\n\n2\n$ b\n$ c\n3\n', line: 10 };
    expect(commandsOf(block)).toEqual([
      { command: 'a', output: '1\n\n2\n', line: 10 },
      { command: 'b', output: '', line: 14 },
      { command: 'c', output: '3\n', line: 15 },
    ]);
    expect(() => commandsOf({ ...block, text: 'no command\n' })).toThrow('line 10');
  });

  test('a wrong type and an unknown name are errors', () => {
    const text = `import { testProgram } from 'moirai';\nawait testProgram({ sessions: {} }, { runs: 'many' });\nnothing();\n`;
    expect(typeErrors(new Map([['README.md.1.mts', text]]))).toEqual([
      expect.stringContaining("Type 'string' is not assignable to type 'number'"),
      expect.stringContaining("Cannot find name 'nothing'"),
    ]);
  });
});

/** A name that no file has, in the root, so that './examples/cart.ts' is what it seems. */
function nameOf({ file, line }: CodeBlock & { readonly file: string }): string {
  return `${file.replaceAll('/', '-')}.${line}.mts`;
}

function markdownIn(directory: string): string[] {
  return readdirSync(join(root, directory), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.md'))
    .map((path) => join(directory, path))
    .toSorted();
}
