import type { RowAccess } from './access.ts';
import type { NamedTemplateRow, Template, TemplateParent } from './templates.ts';

/** A row in a counterexample, by number: the rows that the split instance names, then constants. `fresh` is any other row. */
export type Tag = number;
export const fresh: Tag = -1;

/** An access as an instance has it: what a condition reads and the rows that it writes are slots of their own. */
export interface Slot {
  readonly statement: number;
  readonly table: number;
  readonly target: SlotTarget;
  readonly access: RowAccess;
  readonly parents: readonly SlotParent[];
}

export interface SlotParent {
  readonly reference: number;
  readonly table: number;
  readonly target: NamedTemplateRow;
}

export type SlotTarget =
  | NamedTemplateRow
  /** Every row of the table: the reads of a condition. */
  | { readonly kind: 'all' }
  /** A row that a condition found and writes or locks. An instance has it where it binds the variable. */
  | { readonly kind: 'found'; readonly variable: number };

/** One row where an instance is linked to the one before it, and one where the next is linked to it. */
const rowsFoundMax = 2;

export interface SlottedTemplate {
  readonly template: Template;
  readonly slots: readonly Slot[];
  /** How many variables name rows; those of found rows come after them. */
  readonly variables: number;
}

export function slotted(template: Template): SlottedTemplate {
  const known = slottedTemplates.get(template);
  if (known !== undefined) return known;
  const made = makeSlotted(template);
  slottedTemplates.set(template, made);
  return made;
}

/** A template is in many of the sets that are searched. */
const slottedTemplates = new WeakMap<Template, SlottedTemplate>();

function makeSlotted(template: Template): SlottedTemplate {
  const named = template.statements
    .flat()
    .flatMap(({ row, parents = [] }) => [row, ...parents.map((one) => one.row)])
    .flatMap((row) => (row.kind === 'variable' ? [row.variable + 1] : []));
  const variables = Math.max(0, ...named);
  let found = variables;
  const slots = template.statements.flatMap((accesses, statement) =>
    accesses.flatMap(({ table, row, parents: given = [], ...access }): Slot[] => {
      const parents = given.map(slotParent);
      if (row.kind === 'variable' || row.kind === 'constant')
        return [{ statement, table, target: row, access, parents }];
      const reads: Slot = {
        statement,
        table,
        target: { kind: 'all' },
        access: { ...access, writes: 0, locks: false },
        parents,
      };
      if (access.writes === 0 && !access.locks) return [reads];
      const rows = Array.from({ length: rowsFoundMax }, (): Slot => {
        return { statement, table, target: { kind: 'found', variable: found++ }, access, parents };
      });
      return row.kind === 'taken' ? rows : [reads, ...rows];
    }),
  );
  return { template, slots, variables };
}

function slotParent({ reference, table, row }: TemplateParent): SlotParent {
  return { reference, table, target: row };
}

/** By the columns by which both refer: the parent of the one and of the other. */
export function commonParents(a: Slot, b: Slot): readonly (readonly [SlotParent, SlotParent])[] {
  return a.parents.flatMap((one) =>
    b.parents.flatMap((other) => (one.reference === other.reference ? [[one, other] as const] : [])),
  );
}

/** The variables of a slot: its row's, then those of the rows that it refers to. Each with its table. */
export function variablesOfSlot({
  table,
  target,
  parents,
}: Slot): readonly (readonly [variable: number, table: number])[] {
  const places = [{ table, target }, ...parents];
  return places.flatMap(({ target: of, table: its }) =>
    of.kind === 'variable' || of.kind === 'found' ? [[of.variable, its] as const] : [],
  );
}
