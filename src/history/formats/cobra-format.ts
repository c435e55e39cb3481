/**
 * Cobra's logs: a folder with `T<n>.log` for each session, big-endian. DBCobra/CobraVerifier; amnore/PolySI: CobraHistoryLoader.java.
 *
 *     'S' transaction   'C' transaction   'W' write key value   'R' writer write key value        each but the letter a 64-bit integer
 *
 * A version is a key and the ID of a write; values are only hashes. Some IDs of writes mean the initial state, others a read of what was
 * collected as garbage, of which nothing is known: those reads are left out. Only committed transactions are logged. Some logs have a time
 * after S and C, of no stated clock: it is skipped.
 */
import { InputError } from '../../base/index.ts';
import { CompactHistoryBuilder } from '../compact-builder.ts';
import { ByteReader } from './byte-reader.ts';
import type { HistoryFormat } from './format.ts';
import { baseName, bytesOf, exactBigInt } from './source-text.ts';

export const cobraFormat: HistoryFormat = {
  name: 'cobra',
  extensions: [],
  folderFile: /^T\d+\.log$/,
  detect: (firstBytes, name) =>
    firstBytes[0] === letters.start &&
    (firstBytes.includes(0) || /T\d+\.log$/.test(name)) &&
    [9, 17].some((at) => Object.values(letters).includes(firstBytes[at] ?? 0)),
  marksEnd: () => false,
  read: async (sources) => {
    const builder = new CompactHistoryBuilder();
    for (const source of sources) readLog(await bytesOf(source), source.name, builder);
    return builder.finish();
  },
};

const letters = { start: 0x53, commit: 0x43, write: 0x57, read: 0x52 };
const initialWrites: ReadonlySet<bigint> = new Set([0xbebeebeen, 0xdeadbeefn]);
const garbageWrites: ReadonlySet<bigint> = new Set([0x23332333n, 0x66666666n]);

/** Nothing says whether a log has times: it has none if it can be read so. */
function readLog(bytes: Uint8Array, name: string, builder: CompactHistoryBuilder): void {
  const problem = problemOf(new ByteReader(bytes, name), false);
  if (problem === null) return readTransactions(new ByteReader(bytes, name), false, builder, baseName(name));
  if (problemOf(new ByteReader(bytes, name), true) !== null) throw problem;
  readTransactions(new ByteReader(bytes, name), true, builder, baseName(name));
}

function problemOf(reader: ByteReader, hasTimes: boolean): InputError | null {
  try {
    readTransactions(reader, hasTimes, null, '');
    return null;
  } catch (error) {
    if (error instanceof InputError) return error;
    throw error;
  }
}

/** @param builder `null`: only look whether it can be read */
function readTransactions(
  reader: ByteReader,
  hasTimes: boolean,
  builder: CompactHistoryBuilder | null,
  name: string,
): void {
  const session = builder?.session(name) ?? 0;
  while (!reader.isAtEnd) {
    const id = expectLetter(reader, letters.start);
    if (hasTimes) reader.signed64(false);
    readOperations(reader, builder);
    const begin = reader.at;
    const ended = expectLetter(reader, letters.commit);
    if (ended !== id) throw reader.error('history/syntax', `transaction ${ended} ends where ${id} is open`, begin);
    if (hasTimes) reader.signed64(false);
    builder?.endTransaction(session, { id: String(id) });
  }
}

/** The ID after the letter. */
function expectLetter(reader: ByteReader, letter: number): bigint {
  const found = reader.byte();
  if (found === letter) return reader.signed64(false);
  throw reader.error(
    'history/syntax',
    `the byte ${found} stands where ${String.fromCharCode(letter)} should`,
    reader.at - 1,
  );
}

function readOperations(reader: ByteReader, builder: CompactHistoryBuilder | null): void {
  for (;;) {
    const letter = reader.byte();
    if (letter !== letters.read && letter !== letters.write) {
      reader.at -= 1;
      return;
    }
    if (letter === letters.read) reader.signed64(false); // the writer, which the write tells
    const write = reader.signed64(false);
    const key = reader.signed64(false);
    reader.signed64(false); // a hash of the value
    if (builder !== null) addOperation(builder, letter, builder.key(String(key)), write);
  }
}

function addOperation(builder: CompactHistoryBuilder, letter: number, key: number, write: bigint): void {
  if (letter === letters.write) builder.write(key, builder.value(key, exactBigInt(write)));
  else if (initialWrites.has(write)) builder.read(key, builder.nullValue(key));
  else if (!garbageWrites.has(write)) builder.read(key, builder.value(key, exactBigInt(write)));
}
