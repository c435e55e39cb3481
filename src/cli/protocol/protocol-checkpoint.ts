/** A checkpoint of `moirai protocol`: after its position come the states as little-endian int32. */
import { closeSync, readSync } from 'node:fs';
import { endianness } from 'node:os';
import { InputError } from '../../base/index.ts';
import type { Checkpoint } from '../../protocol/index.ts';
import { type CheckpointTool, openCheckpoint, refuse, sealedCheckpoint } from '../files/checkpoint-file.ts';
import type { SourceFile } from '../modules/source-files.ts';

const tool: CheckpointTool = { tool: 'protocol', subject: 'protocol' };
const statesAtOnce = 1 << 14;

/** @param source of the protocol when it was loaded */
export function checkpointBytes({ position, parts }: Checkpoint, source: readonly SourceFile[]): Generator<Uint8Array> {
  requireLittleEndian();
  return sealedCheckpoint(tool, source, position, asBytes(parts));
}

function* asBytes(parts: Checkpoint['parts']): Generator<Uint8Array> {
  for (const part of parts) yield new Uint8Array(part.buffer, part.byteOffset, part.byteLength);
}

/** @throws InputError `protocol/checkpoint` where the file is none, is damaged, or is of another protocol or version */
export function readCheckpoint(file: string, source: readonly SourceFile[]): Checkpoint {
  requireLittleEndian();
  const { descriptor, position, from, bytes } = openCheckpoint<Checkpoint['position']>(tool, file, source);
  if (position.states * (position.words + 1) * 4 !== bytes) {
    closeSync(descriptor);
    refuse(tool, file, 'the checkpoint has another number of states than it says');
  }
  return { position, parts: statesIn(descriptor, from, position) };
}

function* statesIn(descriptor: number, from: number, { words, states }: Checkpoint['position']): Generator<Int32Array> {
  const stride = words + 1;
  const buffer = new Int32Array(Math.min(statesAtOnce, states) * stride);
  const bytes = new Uint8Array(buffer.buffer);
  let at = from;
  let left = states * stride * 4;
  try {
    while (left > 0) {
      const wanted = Math.min(left, bytes.length);
      let filled = 0;
      while (filled < wanted) {
        const read = readSync(descriptor, bytes, filled, wanted - filled, at);
        if (read === 0) return; // it has become shorter since: too few states, which the search refuses
        filled += read;
        at += read;
      }
      left -= filled;
      yield buffer.subarray(0, filled / 4);
    }
  } finally {
    closeSync(descriptor);
  }
}

function requireLittleEndian(): void {
  if (endianness() !== 'LE') throw new InputError('protocol/checkpoint', 'checkpoints need a little-endian machine');
}
