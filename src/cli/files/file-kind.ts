/** Files that moirai writes say in their first field what they are. One that another command reads is not a damaged one of this command's. */
import { InputError } from '../../base/index.ts';

export type FileKind = 'history' | 'trace' | 'failure';

const kinds: Readonly<Record<FileKind, { readonly name: string; readonly reader: string; readonly code: string }>> = {
  history: { name: 'a history', reader: 'moirai check', code: 'history/header' },
  trace: { name: 'a trace', reader: 'moirai verify', code: 'trace/header' },
  failure: { name: 'the record of a failure', reader: 'moirai replay', code: 'replay/failure-file' },
};

const headBytes = 256;

/** @param first the beginning of the file; `null`: it does not say */
export function kindOf(first: Uint8Array): FileKind | null {
  const head = new TextDecoder().decode(first.subarray(0, headBytes));
  const [, kind = ''] = /^\s*\{\s*"moirai"\s*:\s*"(\w+)"/.exec(head) ?? [];
  return Object.hasOwn(kinds, kind) ? (kind as FileKind) : null;
}

/** @throws InputError `history/header`, `trace/header`, `replay/failure-file` where it says that it is of another kind */
export function requireKind(expected: FileKind, first: Uint8Array, file: string): void {
  const found = kindOf(first);
  if (found === null || found === expected) return;
  const { name, reader } = kinds[found];
  throw new InputError(kinds[expected].code, `this is ${name}, not ${kinds[expected].name}: ${reader} reads it`, {
    file: file === '-' ? 'standard input' : file,
  });
}

/** The same bytes, the first of them looked at. @throws InputError as `requireKind` */
export async function* ofKind(
  expected: FileKind,
  chunks: AsyncIterable<Uint8Array>,
  file: string,
): AsyncGenerator<Uint8Array, void, undefined> {
  let isFirst = true;
  for await (const chunk of chunks) {
    if (isFirst) requireKind(expected, chunk, file);
    isFirst = false;
    yield chunk;
  }
}
