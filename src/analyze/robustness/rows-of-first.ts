import type { Slot, SlottedTemplate, Tag } from './slots.ts';

/** Rows for each variable of the instance that is split. */
export interface RowsOfFirst {
  readonly rows: ReadonlyMap<number, Tag>;
  /** The rows of each table that have a number: those of `rows` and of constants. */
  readonly tags: ReadonlyMap<number, readonly Tag[]>;
}

/** Numbers for the rows of constants, by table and constant. */
export type ConstantTags = ReadonlyMap<number, ReadonlyMap<number, Tag>>;

export function constantTags(templates: readonly SlottedTemplate[]): ConstantTags {
  const result = new Map<number, Map<number, Tag>>();
  let count = 0;
  const slots = templates.flatMap((one) => one.slots);
  for (const { table, target } of [...slots, ...slots.flatMap(({ parents }) => parents)]) {
    if (target.kind !== 'constant') continue;
    const ofTable = result.get(table) ?? new Map<number, Tag>();
    if (!ofTable.has(target.constant)) ofTable.set(target.constant, count++);
    result.set(table, ofTable);
  }
  return result;
}

/**
 * Every way in which variables of one table are the same row, and the row of a constant or not; each once without, and once with each row that
 * a condition may find.
 */
export function* rowsOfFirst({ slots }: SlottedTemplate, constants: ConstantTags): Generator<RowsOfFirst> {
  const named = new Map<number, number>();
  for (const { table, target } of [...slots, ...slots.flatMap(({ parents }) => parents)])
    if (target.kind === 'variable') named.set(target.variable, table);
  const start = new Map([...constants].map(([table, tags]) => [table, [...tags.values()]]));
  const count = [...start.values()].flat().length;
  for (const found of [undefined, ...foundOnce(slots)]) {
    const variables: (readonly [number, number])[] = [...named];
    if (found !== undefined) variables.push(found);
    yield* placed(variables, new Map(), start, count);
  }
}

/** The first variable of each condition that writes or locks, with its table. */
function foundOnce(slots: readonly Slot[]): readonly (readonly [variable: number, table: number])[] {
  return slots.flatMap(({ table, target }, index) => {
    if (target.kind !== 'found' || slots[index - 1]?.target.kind === 'found') return [];
    return [[target.variable, table] as const];
  });
}

function* placed(
  variables: readonly (readonly [variable: number, table: number])[],
  rows: ReadonlyMap<number, Tag>,
  tags: ReadonlyMap<number, readonly Tag[]>,
  count: number,
): Generator<RowsOfFirst> {
  const [next, ...rest] = variables;
  if (next === undefined) {
    yield { rows, tags };
    return;
  }
  const [variable, table] = next;
  const known = tags.get(table) ?? [];
  for (const tag of known) yield* placed(rest, new Map(rows).set(variable, tag), tags, count);
  yield* placed(rest, new Map(rows).set(variable, count), new Map(tags).set(table, [...known, count]), count + 1);
}
