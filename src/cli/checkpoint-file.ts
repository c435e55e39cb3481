/** A search that goes on another day: a line of JSON, then the states as little-endian int32. */
import { closeSync, openSync, readSync, writeSync } from 'node:fs';
import { endianness } from 'node:os';
import { InputError } from '../base/index.ts';
import type { Checkpoint } from '../protocol/index.ts';

const magic = 'moirai checkpoint 1 ';
const statesAtOnce = 1 << 14;
const headerBytesMax = 1 << 20;

export function writeCheckpoint(file: string, { position, parts }: Checkpoint): void {
  requireLittleEndian();
  const descriptor = openSync(file, 'w');
  try {
    writeSync(descriptor, `${magic}${JSON.stringify(position)}\n`);
    for (const part of parts) writeAll(descriptor, new Uint8Array(part.buffer, part.byteOffset, part.byteLength));
  } finally {
    closeSync(descriptor);
  }
}

/** @throws InputError `protocol/checkpoint` when the file is none */
export function readCheckpoint(file: string): Checkpoint {
  requireLittleEndian();
  let descriptor: number;
  try {
    descriptor = openSync(file, 'r');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new InputError('protocol/checkpoint', `the checkpoint cannot be read: ${code}`, { file });
  }
  const head = new Uint8Array(headerBytesMax);
  const read = readSync(descriptor, head, 0, headerBytesMax, 0);
  const text = new TextDecoder().decode(head.subarray(0, Math.max(0, head.subarray(0, read).indexOf(10))));
  if (!text.startsWith(magic)) {
    closeSync(descriptor);
    throw new InputError('protocol/checkpoint', 'this is no checkpoint of moirai', { file });
  }
  const position = JSON.parse(text.slice(magic.length)) as Checkpoint['position'];
  return { position, parts: statesIn(descriptor, new TextEncoder().encode(text).length + 1, position.words + 1) };
}

function* statesIn(descriptor: number, from: number, stride: number): Generator<Int32Array> {
  const buffer = new Int32Array(statesAtOnce * stride);
  const bytes = new Uint8Array(buffer.buffer);
  let at = from;
  try {
    for (;;) {
      let filled = 0;
      while (filled < bytes.length) {
        const read = readSync(descriptor, bytes, filled, bytes.length - filled, at);
        if (read === 0) break;
        filled += read;
        at += read;
      }
      yield buffer.subarray(0, Math.floor(filled / 4));
      if (filled < bytes.length) return;
    }
  } finally {
    closeSync(descriptor);
  }
}

function writeAll(descriptor: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(descriptor, bytes, at, bytes.length - at);
}

function requireLittleEndian(): void {
  if (endianness() !== 'LE') throw new InputError('protocol/checkpoint', 'checkpoints need a little-endian machine');
}
