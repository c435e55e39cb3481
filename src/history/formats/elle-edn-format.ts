/** Jepsen's EDN: operations, one after another or all in one vector or list. `elle-history.ts` says what they mean. */
import { InputError, type Place } from '../../base/index.ts';
import type { CompactHistory } from '../compact-history.ts';
import { type Edn, ednField, isKind, parseEdn, valueOfEdn } from './edn.ts';
import {
  type ElleEvent,
  ElleHistory,
  type ElleKey,
  keyOfValue,
  microKind,
  type MicroOperation,
} from './elle-history.ts';
import { type HistoryFormat, type HistorySource, onlySource } from './format.ts';
import { type Form, FormSplitter } from './form-splitter.ts';
import { beginsList, exactValue, headOf, shown, textOf } from './source-text.ts';

export const elleEdnFormat: HistoryFormat = {
  name: 'elle-edn',
  extensions: ['.edn'],
  detect: (firstBytes) =>
    /^(?:;[^\n]*\n|[\s,])*[[(]?(?:;[^\n]*\n|[\s,])*(?:#[\w./-]+\s*)?\{\s*:(?:type|process|index|f|value|time|error|node)\b/.test(
      headOf(firstBytes),
    ),
  marksEnd: beginsList,
  read: (sources) => readEdn(onlySource('elle-edn', sources)),
};

async function readEdn(source: HistorySource): Promise<CompactHistory> {
  const splitter = new FormSplitter('edn');
  const history = new ElleHistory();
  const take = ({ text, line }: Form): void => {
    const form = parseEdn(text, line);
    const event = form === undefined ? null : eventOf(form, { line });
    if (event !== null) history.event(event);
  };
  for await (const piece of textOf(source)) splitter.push(piece).forEach(take);
  splitter.finish().forEach(take);
  return history.finish();
}

/** `null`: it is not of a client. */
function eventOf(form: Edn, place: Place): ElleEvent | null {
  const map = isKind(form, 'tagged') ? form.value : form;
  if (!isKind(map, 'map')) throw new InputError('history/field', `an operation is a map, not ${shownEdn(form)}`, place);
  const process = ednField(map, 'process') ?? undefined;
  if (process !== undefined && typeof process !== 'number' && !isKind(process, 'number')) return null;
  const type = ednField(map, 'type');
  const name = isKind(type, 'keyword') ? type.name : typeof type === 'string' ? type : '';
  const value = ednField(map, 'value');
  if (!isVector(value))
    throw new InputError('history/field', `the value of a transaction is a vector, not ${shownEdn(value)}`, place);
  const operations = value.map((micro) => microOperationOf(micro, place));
  return { type: name, process: process === undefined ? undefined : shownEdn(process), operations, place };
}

function microOperationOf(micro: Edn, place: Place): MicroOperation {
  if (!isVector(micro) || micro.length < 2 || micro.length > 3)
    throw new InputError(
      'history/field',
      `an operation is [:append k v], [:w k v] or [:r k v], not ${shownEdn(micro)}`,
      place,
    );
  const [kind, key, value] = micro;
  const name = isKind(kind, 'keyword') || isKind(kind, 'symbol') ? kind.name : kind;
  return {
    kind: microKind(typeof name === 'string' ? name : shownEdn(kind), place),
    key: keyOf(key ?? null),
    value: value === undefined ? undefined : exactValue(valueOfEdn(value), place),
  };
}

function keyOf(key: Edn): ElleKey {
  return isKind(key, 'keyword') ? { type: 'keyword', text: key.name } : keyOfValue(valueOfEdn(key));
}

function isVector(value: Edn | undefined): value is readonly Edn[] {
  return Array.isArray(value);
}

function shownEdn(value: Edn | undefined): string {
  return value === undefined ? 'missing' : shown(valueOfEdn(value));
}
