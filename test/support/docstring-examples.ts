/** The `@example` blocks of docstrings: found in a source, and run together in one process. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { runProcess, type UserFolder } from './cli.ts';
import { type CodeBlock, codeBlocks } from './markdown.ts';

/** Each with its line in the source. */
export function examplesIn(source: string): CodeBlock[] {
  return [...source.matchAll(/\/\*\*(?:(?!\*\/)[^])*@example(?:(?!\*\/)[^])*\*\//g)].flatMap((comment) => {
    const before = source.slice(0, comment.index).split('\n').length - 1;
    const text = comment[0].replaceAll(/^ *\* ?/gm, '');
    return codeBlocks(text).map((block) => ({ ...block, line: block.line + before }));
  });
}

/** The lines that an example says it prints. */
export function printsOf(text: string): string[] {
  return [...text.matchAll(/^\s*\/\/ prints: (.*)$/gm)].map(([, line = '']) => line);
}

/** @param folder has the package among its modules @returns the lines that each has printed, by name */
export async function runTogether(
  examples: readonly { readonly name: string; readonly text: string }[],
  folder: UserFolder,
): Promise<Readonly<Record<string, readonly string[]>>> {
  folder.write(Object.fromEntries(examples.map(({ name, text }) => [name, text])));
  folder.write({ 'all.mts': runner(examples.map(({ name }) => name)) });
  const loader = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;
  const { code, err } = await runProcess(process.execPath, ['--import', loader, 'all.mts'], { cwd: folder.path });
  if (code !== 0) throw new Error(`the examples ended with ${code}: ${err}`);
  return JSON.parse(readFileSync(join(folder.path, 'printed.json'), 'utf8')) as Record<string, string[]>;
}

function runner(names: readonly string[]): string {
  return `import { writeFileSync } from 'node:fs';
import { format } from 'node:util';
const printed: Record<string, string[]> = {};
for (const name of ${JSON.stringify(names)}) {
  const lines: string[] = [];
  console.log = (...values) => void lines.push(...format(...values).split('\\n'));
  await import('./' + name);
  printed[name] = lines;
}
writeFileSync('printed.json', JSON.stringify(printed));
`;
}
