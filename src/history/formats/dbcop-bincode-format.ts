/**
 * `history.bincode` of dbcop, which PolySI, VeriStrong and Plume read too: Rust's bincode of the struct in EagleBear2002/dbcop-verifier:
 * src/db/history.rs. Little-endian, 64-bit lengths, booleans of one byte.
 *
 * An event has a success flag of its own. One that failed inside a transaction that committed never happened: its value is 0, and to count it
 * turns good histories into violations. Of a transaction that aborted the writes are kept, for others may have seen them. Value 0 is initial.
 */
import { InputError } from '../../base/index.ts';
import { ByteReader } from './byte-reader.ts';
import { CompactHistoryBuilder } from '../compact-builder.ts';
import type { CompactHistory } from '../compact-history.ts';
import { type HistoryFormat, onlySource } from './format.ts';
import { bytesOf, exactBigInt } from './source-text.ts';

export const dbcopBincodeFormat: HistoryFormat = {
  name: 'dbcop',
  extensions: ['.bincode'],
  detect: hasHeader,
  marksEnd: () => true,
  read: async (sources) => {
    const source = onlySource('dbcop', sources);
    return readBincode(new ByteReader(await bytesOf(source), source.name));
  },
};

/** id, n_node, n_variable, n_transaction, n_event. */
const parameterBytes = 5 * 8;

/** Three texts stand after the parameters, and the second is a time. */
function hasHeader(firstBytes: Uint8Array): boolean {
  const reader = new ByteReader(firstBytes, '');
  try {
    for (let at = 0; at < parameterBytes; at += 8) reader.unsigned64(true);
    reader.text();
    return /^\d{4}-\d\d-\d\d/.test(reader.text());
  } catch (error) {
    if (error instanceof InputError) return false;
    throw error;
  }
}

const eventBytes = 1 + 8 + 8 + 1;

function readBincode(reader: ByteReader): CompactHistory {
  const builder = new CompactHistoryBuilder();
  for (let at = 0; at < parameterBytes; at += 8) reader.unsigned64(true);
  for (const _ of ['info', 'start', 'end']) reader.text();
  const sessionCount = reader.count(8);
  for (let s = 0; s < sessionCount; s += 1) {
    const session = builder.session(String(s));
    const transactionCount = reader.count(8 + 1);
    for (let t = 0; t < transactionCount; t += 1) readTransaction(reader, builder, session);
  }
  if (!reader.isAtEnd) throw reader.error('history/syntax', 'the history has ended, and the file has not');
  return builder.finish();
}

/** Whether it committed stands after its events, so that they are looked at twice. */
function readTransaction(reader: ByteReader, builder: CompactHistoryBuilder, session: number): void {
  const eventCount = reader.count(eventBytes);
  const begin = reader.at;
  reader.at = begin + eventCount * eventBytes;
  const isCommitted = flag(reader);
  const end = reader.at;
  reader.at = begin;
  for (let e = 0; e < eventCount; e += 1) {
    const isWrite = flag(reader);
    const name = String(reader.unsigned64(true));
    const seen = exactBigInt(reader.unsigned64(true));
    const hasSucceeded = flag(reader);
    if (isCommitted ? !hasSucceeded : !isWrite) continue;
    const key = builder.key(name);
    builder.initial(name, 0);
    const value = builder.value(key, seen);
    if (isWrite) builder.write(key, value);
    else builder.read(key, value);
  }
  reader.at = end;
  builder.endTransaction(session, { status: isCommitted ? 'committed' : 'aborted' });
}

function flag(reader: ByteReader): boolean {
  const byte = reader.byte();
  if (byte <= 1) return byte === 1;
  throw reader.error('history/syntax', `a flag is 0 or 1, not ${byte}`, reader.at - 1);
}
