/**
 * Viper's logs: a folder with `J<n>.log` for each client, a committed transaction a line (or all in one array). Khoury-srg/Viper:
 * src/parse/wr_range_parse.py.
 *
 *     {"value": [["r", key, version, isDead], ["w", key, version], ["i", ...], ["d", ...], ["range", from, to, live, dead]]}
 *
 * A delete writes a version too, that of a dead key, and reads of dead keys see it. A range read is a read of each key that it found, live or
 * dead: what it says about keys that it did not find is not checked. `"isInitial": true` marks the initial state.
 */
import { InputError, type Place } from '../../base/index.ts';
import { CompactHistoryBuilder } from '../compact-builder.ts';
import type { Value } from '../value.ts';
import type { HistoryFormat, HistorySource } from './format.ts';
import { FormSplitter } from './form-splitter.ts';
import {
  arrayIn,
  beginsList,
  baseName,
  exactValue,
  headOf,
  isObject,
  keyName,
  parseExactJson,
  shown,
  textOf,
} from './source-text.ts';

export const viperFormat: HistoryFormat = {
  name: 'viper',
  extensions: [],
  folderFile: /^J\d+\.log$/,
  detect: (firstBytes) =>
    /^\[?\s*\{\s*(?:"(?:isInitial|id)"\s*:\s*\w+\s*,\s*)*"value"\s*:\s*\[\s*(?:\]|\[\s*"(?:r|w|i|d|range)")/.test(
      headOf(firstBytes),
    ),
  marksEnd: beginsList,
  read: async (sources) => {
    const builder = new CompactHistoryBuilder();
    for (const source of sources) await readLog(source, builder);
    return builder.finish();
  },
};

async function readLog(source: HistorySource, builder: CompactHistoryBuilder): Promise<void> {
  const name = baseName(source.name);
  const splitter = new FormSplitter('json');
  const inFile = (line: number): Place => ({ file: source.name, line });
  const take = ({ text, line }: { text: string; line: number }): void =>
    readTransaction(parseExactJson(text, inFile(line)), builder, name, inFile(line));
  try {
    for await (const piece of textOf(source)) splitter.push(piece).forEach(take);
    splitter.finish().forEach(take);
  } catch (error) {
    throw error instanceof InputError && error.place?.file === undefined ? error.in(source.name) : error;
  }
}

function readTransaction(transaction: unknown, builder: CompactHistoryBuilder, session: string, place: Place): void {
  if (!isObject(transaction))
    throw new InputError('history/field', `a transaction is an object with "value", not ${shown(transaction)}`, place);
  const isInitial = transaction['isInitial'] === true;
  for (const operation of arrayIn(transaction, 'value', place)) {
    for (const { isWrite, key, value } of operationsOf(operation, place)) {
      if (isInitial) builder.initial(key, value);
      else add(builder, isWrite, key, value);
    }
  }
  if (!isInitial) builder.endTransaction(builder.session(session), { line: place.line });
}

interface Operation {
  readonly isWrite: boolean;
  readonly key: string;
  readonly value: Value;
}

function add(builder: CompactHistoryBuilder, isWrite: boolean, name: string, seen: Value): void {
  const key = builder.key(name);
  const value = builder.value(key, seen);
  if (isWrite) builder.write(key, value);
  else builder.read(key, value);
}

function operationsOf(operation: unknown, place: Place): Operation[] {
  const parts: readonly unknown[] = Array.isArray(operation) ? (operation as unknown[]) : [];
  const [kind, key, value] = parts;
  switch (kind) {
    case 'r':
      return [{ isWrite: false, key: keyName(key, place), value: versionOf(value, place) }];
    case 'w':
    case 'i':
    case 'd':
      return [{ isWrite: true, key: keyName(key, place), value: versionOf(value, place) }];
    case 'range':
      return [...found(parts[3], place), ...found(parts[4], place)];
    default:
      throw new InputError('history/field', `an operation is r, w, i, d or range, not ${shown(operation)}`, place);
  }
}

/** What a range read found. */
function found(records: unknown, place: Place): Operation[] {
  if (!Array.isArray(records))
    throw new InputError('history/field', `a range read has two arrays of what it found, not ${shown(records)}`, place);
  return (records as readonly unknown[]).map((record) => {
    if (!isObject(record) || record['val'] === undefined)
      throw new InputError('history/field', `a range read found {"id", "val"}, not ${shown(record)}`, place);
    return { isWrite: false, key: keyName(record['id'], place), value: versionOf(record['val'], place) };
  });
}

/** "nil" and null: the key is not there. */
function versionOf(value: unknown, place: Place): Value {
  if (value === undefined) throw new InputError('history/field', 'an operation has a version', place);
  return value === 'nil' ? null : exactValue(value, place);
}
