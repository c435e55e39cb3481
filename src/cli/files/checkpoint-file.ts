/**
 * A search that continues another day, as a file: a line of JSON (versions, hashes of the source, what the tool says of the rest), the rest, and the
 * SHA-256 of all bytes before it. What would continue from something else than was found would prove nothing, so whatever does not match is refused.
 */
import { createHash } from 'node:crypto';
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { InputError } from '../../base/index.ts';
import { moiraiVersion } from '../own-files.ts';
import { changedFiles, type SourceFile } from '../modules/source-files.ts';

const magic = 'moirai checkpoint ';
const format = 5;
const headerBytesMax = 1 << 20;
const hashBytes = 32;
const hashedAtOnce = 1 << 20;

/** Which tool writes it, and what that tool looks at: the words of its refusals. */
export interface CheckpointTool {
  readonly tool: 'protocol' | 'explore';
  readonly subject: 'protocol' | 'program';
}

interface Header<Position> {
  readonly format: number;
  readonly tool: string;
  readonly moirai: string;
  readonly node: string;
  readonly source: readonly SourceFile[];
  readonly position: Position;
}

/** A file that is open, undamaged, and of this tool, source and version. */
export interface OpenCheckpoint<Position> {
  readonly descriptor: number;
  readonly position: Position;
  /** Where the rest begins, and its length. */
  readonly from: number;
  readonly bytes: number;
}

/** @param source of the user's module when it was loaded */
export function* sealedCheckpoint(
  { tool }: CheckpointTool,
  source: readonly SourceFile[],
  position: unknown,
  parts: Iterable<Uint8Array>,
): Generator<Uint8Array> {
  const header: Header<unknown> = {
    format,
    tool,
    moirai: moiraiVersion(),
    node: process.versions.node,
    source,
    position,
  };
  const hash = createHash('sha256');
  const head = new TextEncoder().encode(`${magic}${JSON.stringify(header)}\n`);
  hash.update(head);
  yield head;
  for (const part of parts) {
    hash.update(part);
    yield part;
  }
  yield hash.digest();
}

/** @returns the file, open @throws InputError `TOOL/checkpoint` where it is none, is damaged, or is of another source, tool or version */
export function openCheckpoint<Position>(
  of: CheckpointTool,
  file: string,
  source: readonly SourceFile[],
): OpenCheckpoint<Position> {
  const descriptor = opened(of, file);
  try {
    return { descriptor, ...checkedHeader<Position>(of, descriptor, file, source) };
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}

export function refuse({ tool }: CheckpointTool, file: string, message: string): never {
  throw new InputError(`${tool}/checkpoint`, message, { file });
}

function opened(of: CheckpointTool, file: string): number {
  try {
    return openSync(file, 'r');
  } catch (error) {
    return refuse(of, file, `the checkpoint cannot be read: ${(error as NodeJS.ErrnoException).code}`);
  }
}

function checkedHeader<Position>(
  of: CheckpointTool,
  descriptor: number,
  file: string,
  source: readonly SourceFile[],
): Omit<OpenCheckpoint<Position>, 'descriptor'> {
  const stat = fstatSync(descriptor);
  if (!stat.isFile()) refuse(of, file, 'this is no checkpoint of moirai');
  const head = new Uint8Array(Math.min(headerBytesMax, stat.size));
  readSync(descriptor, head, 0, head.length, 0);
  const end = head.indexOf(10);
  const text = new TextDecoder().decode(head.subarray(0, Math.max(0, end)));
  if (!text.startsWith(magic)) refuse(of, file, 'this is no checkpoint of moirai');
  if (text.startsWith(`${magic}1 `)) refuse(of, file, 'the checkpoint is of an older version of moirai');
  if (!isUndamaged(descriptor, stat.size))
    refuse(
      of,
      file,
      'the checkpoint is damaged: its checksum is not that of its bytes, some of which were changed or cut off',
    );
  const header = JSON.parse(text.slice(magic.length)) as Header<Position>;
  checkOrigin(of, header, file, source);
  return { position: header.position, from: end + 1, bytes: stat.size - end - 1 - hashBytes };
}

function checkOrigin(
  of: CheckpointTool,
  { format: found, moirai, tool, source: then }: Header<unknown>,
  file: string,
  now: readonly SourceFile[],
): void {
  const version = moiraiVersion();
  if (found !== format || moirai !== version)
    refuse(
      of,
      file,
      `the checkpoint was written by moirai ${moirai}, and this is moirai ${version}, whose states may differ`,
    );
  if (tool !== of.tool) refuse(of, file, `this is a checkpoint of moirai ${tool}`);
  const [[module], [asked]] = [then, now];
  if (module !== undefined && asked !== undefined && module.file !== asked.file)
    refuse(of, file, `the checkpoint is of another ${of.subject}: of ${module.file}, and this is ${asked.file}`);
  const changed = changedFiles(then, now);
  if (changed.length > 0)
    refuse(
      of,
      file,
      `the ${of.subject} was edited since the checkpoint was written: ${changed.join(', ')}; start a new search`,
    );
}

function isUndamaged(descriptor: number, size: number): boolean {
  if (size < hashBytes) return false;
  const hash = createHash('sha256');
  const buffer = new Uint8Array(Math.min(hashedAtOnce, size));
  const end = size - hashBytes;
  for (let at = 0; at < end; ) {
    const read = readSync(descriptor, buffer, 0, Math.min(buffer.length, end - at), at);
    if (read === 0) return false;
    hash.update(buffer.subarray(0, read));
    at += read;
  }
  const written = new Uint8Array(hashBytes);
  readSync(descriptor, written, 0, hashBytes, end);
  return hash.digest().equals(written);
}
