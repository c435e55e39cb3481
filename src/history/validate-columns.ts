/** Do the columns of a file make a history? Every position is looked at, so that no later loop runs out of an array. Linear. */
import { type CompactHistory, fromUnrecorded, operationKind, statuses } from './compact-history.ts';
import type { Texts } from './text-pool.ts';
import { isValueCode } from './value-table.ts';

/** @param refuse called with the column that is wrong; throws */
export function validateColumns(history: CompactHistory, refuse: (column: string, what: string) => never): void {
  const { transactionCount, operationCount, keyCount, valueCount, lists } = history;
  const columns = history.names.columns;
  const length = (name: string, column: { readonly length: number } | null, expected: number): void => {
    if (column !== null && column.length !== expected) refuse(name, `${column.length} elements instead of ${expected}`);
  };
  const within = (name: string, column: Int32Array | Uint8Array | null, from: number, below: number): void => {
    const at = column?.findIndex((element) => element < from || element >= below) ?? -1;
    if (at >= 0) refuse(name, `element ${at} is ${column?.[at]}, which should be at least ${from} and below ${below}`);
  };
  const starts = (name: string, column: Int32Array, end: number): void => {
    const at = column.findIndex((start, i) => start < (i === 0 ? 0 : (column[i - 1] as number)));
    if (at >= 0 || column[0] !== 0 || column.at(-1) !== end) refuse(name, `it should rise from 0 to ${end}`);
  };
  const texts = (name: string, { bytes, starts: positions }: Texts): void =>
    starts(`${name}Starts`, positions, bytes.length);

  texts('session', columns.sessions);
  texts('key', columns.keys);
  texts('value', columns.valueTexts);
  texts('id', columns.ids);
  texts('level', columns.levels);
  within('session', history.session, 0, history.sessionCount);
  length('status', history.status, transactionCount);
  within('status', history.status, 0, statuses.length);
  length('operationStart', history.operationStart, transactionCount + 1);
  starts('operationStart', history.operationStart, operationCount);
  for (const name of ['start', 'end', 'line'] as const) length(name, history[name], transactionCount);
  for (const name of ['key', 'value', 'from'] as const) length(name, history[name], operationCount);
  within('kind', history.kind, 0, lists === null ? operationKind.append : operationKind.listRead + 1);
  within('key', history.key, 0, keyCount);
  within('from', history.from, fromUnrecorded, transactionCount);
  length('initialValue', history.initialValue, keyCount);
  within('initialValue', history.initialValue, 0, valueCount);
  length('valueKeys', columns.values.keys, valueCount);
  within('valueKeys', columns.values.keys, 0, keyCount);
  const textCount = columns.valueTexts.starts.length - 1;
  if (!columns.values.codes.every((code) => isValueCode(code, textCount)))
    refuse('valueCodes', 'a number that is no value');
  length('id', columns.id, transactionCount);
  within('id', columns.id, -1, columns.ids.starts.length - 1);
  length('level', columns.level, transactionCount);
  within('level', columns.level, -1, columns.levels.starts.length - 1);
  const listCount = lists === null ? 0 : lists.start.length - 1;
  if (lists !== null) starts('listStart', lists.start, lists.element.length);
  within('listElement', lists?.element ?? null, 0, valueCount);
  const { kind, value, key } = history;
  const bad = value.findIndex((v, o) =>
    kind[o] === operationKind.listRead
      ? v < 0 || v >= listCount
      : v < 0 || v >= valueCount || columns.values.keys[v] !== key[o],
  );
  if (bad >= 0) refuse('value', `element ${bad} is ${value[bad]}, which is no value of its key`);
}
