/**
 * The JSON of dbcop 0.2: an array of sessions of transactions, alone or in the field `data` of an object. rnbguy/dbcop: docs/history-format.md.
 * Version `null` is the initial state; what is not committed is aborted.
 */
import { InputError, type Place } from '../../base/index.ts';
import { CompactHistoryBuilder } from '../compact-builder.ts';
import type { CompactHistory } from '../compact-history.ts';
import { type HistoryFormat, type HistorySource, onlySource } from './format.ts';
import { FormSplitter } from './form-splitter.ts';
import { arrayIn, exactValue, headOf, isObject, keyName, parseExactJson, shown, textOf } from './source-text.ts';

export const dbcopJsonFormat: HistoryFormat = {
  name: 'dbcop-json',
  extensions: [],
  detect: (firstBytes) => {
    const head = headOf(firstBytes);
    return /^\[\s*\[\s*(?:\{\s*"(?:events|committed)"|\])/.test(head) || /^\{\s*"(?:params|data)"\s*:/.test(head);
  },
  marksEnd: () => true,
  read: (sources) => readDbcopJson(onlySource('dbcop-json', sources)),
};

async function readDbcopJson(source: HistorySource): Promise<CompactHistory> {
  const builder = new CompactHistoryBuilder();
  const splitter = new FormSplitter('json');
  let count = 0;
  const take = (text: string, line: number): void => {
    const place = { line };
    const form = parseExactJson(text, place);
    const sessions = isObject(form) ? arrayIn(form, 'data', place) : [form];
    for (const session of sessions) {
      readSession(session, builder, String(count), place);
      count += 1;
    }
  };
  for await (const piece of textOf(source)) for (const { text, line } of splitter.push(piece)) take(text, line);
  for (const { text, line } of splitter.finish()) take(text, line);
  return builder.finish();
}

function readSession(session: unknown, builder: CompactHistoryBuilder, name: string, place: Place): void {
  const index = builder.session(name);
  if (!Array.isArray(session))
    throw new InputError('history/field', `a session is an array of transactions, not ${shown(session)}`, place);
  for (const transaction of session as readonly unknown[]) {
    if (!isObject(transaction) || typeof transaction['committed'] !== 'boolean')
      throw new InputError('history/field', `a transaction has events and committed, not ${shown(transaction)}`, place);
    for (const event of arrayIn(transaction, 'events', place)) readEvent(event, builder, place);
    builder.endTransaction(index, { status: transaction['committed'] ? 'committed' : 'aborted', ...place });
  }
}

function readEvent(event: unknown, builder: CompactHistoryBuilder, place: Place): void {
  const { Read: read, Write: write } = isObject(event) ? event : {};
  const operation = read ?? write;
  const version = isObject(operation) ? operation['version'] : undefined;
  if (!isObject(operation) || version === undefined || (read === undefined) === (write === undefined))
    throw new InputError('history/field', `an event is a Read or a Write, not ${shown(event)}`, place);
  if (write !== undefined && version === null)
    throw new InputError('history/field', 'only reads have the version null', place);
  const key = builder.key(keyName(operation['variable'], place));
  const value = builder.value(key, exactValue(version, place));
  if (read === undefined) builder.write(key, value);
  else builder.read(key, value);
}
