/** elle-cli's JSON: the same operations as objects, in an array or one a line. ligurio/elle-cli: README.md. `elle-history.ts` says what they mean. */
import { InputError, type Place } from '../../base/index.ts';
import type { CompactHistory } from '../compact-history.ts';
import { type ElleEvent, ElleHistory, keyOfValue, microKind, type MicroOperation } from './elle-history.ts';
import { type HistoryFormat, type HistorySource, onlySource } from './format.ts';
import { type Form, FormSplitter } from './form-splitter.ts';
import { beginsList, exactValue, headOf, isObject, parseExactJson, shown, textOf } from './source-text.ts';

export const elleJsonFormat: HistoryFormat = {
  name: 'elle-json',
  extensions: [],
  detect: (firstBytes) => {
    const head = headOf(firstBytes);
    return (
      /^\[?\s*\{/.test(head) && /"type"\s*:\s*":?(?:invoke|ok|fail|info)"/.test(head) && !/"operations"/.test(head)
    );
  },
  marksEnd: beginsList,
  read: (sources) => readJson(onlySource('elle-json', sources)),
};

async function readJson(source: HistorySource): Promise<CompactHistory> {
  const splitter = new FormSplitter('json');
  const history = new ElleHistory();
  const take = ({ text, line }: Form): void => {
    const event = eventOf(parseExactJson(text, { line }), { line });
    if (event !== null) history.event(event);
  };
  for await (const piece of textOf(source)) splitter.push(piece).forEach(take);
  splitter.finish().forEach(take);
  return history.finish();
}

/** `null`: it is not of a client. */
function eventOf(form: unknown, place: Place): ElleEvent | null {
  if (!isObject(form)) throw new InputError('history/field', `an operation is an object, not ${shown(form)}`, place);
  const process = form['process'] ?? undefined;
  if (process !== undefined && typeof process !== 'number') return null;
  const value = form['value'];
  if (!Array.isArray(value))
    throw new InputError('history/field', `the value of a transaction is an array, not ${shown(value)}`, place);
  return {
    type: withoutColon(form['type']),
    process: process === undefined ? undefined : String(process),
    operations: (value as readonly unknown[]).map((micro) => microOperationOf(micro, place)),
    place,
  };
}

function microOperationOf(micro: unknown, place: Place): MicroOperation {
  const parts: readonly unknown[] = Array.isArray(micro) ? (micro as unknown[]) : [];
  if (parts.length < 2 || parts.length > 3)
    throw new InputError('history/field', `an operation is ["append"|"w"|"r", k, v], not ${shown(micro)}`, place);
  const [kind, key, value] = parts;
  return {
    kind: microKind(withoutColon(kind), place),
    key: keyOfValue(exactValue(key, place)),
    value: value === undefined ? undefined : exactValue(value, place),
  };
}

/** Some writers keep the colon of a keyword. */
function withoutColon(name: unknown): string {
  return typeof name === 'string' ? name.replace(/^:/, '') : shown(name);
}
