import { lockStrength, type RowAccess } from './access.ts';
import type { Template, TemplateAccess } from './templates.ts';

/** A row in a counterexample, by number: rows that the split instance names, then constants. `fresh` is any other row. */
export type Tag = number;
export const fresh: Tag = -1;

/** The slots of a template: accesses as an instance has them. What a condition reads and what it may write are slots of their own. */
export interface Slot {
  readonly statement: number;
  readonly table: number;
  readonly target: SlotTarget;
  readonly access: RowAccess;
}

export type SlotTarget =
  | { readonly kind: 'variable'; readonly variable: number }
  | { readonly kind: 'constant'; readonly constant: number }
  /** Every row of the table: the reads of a condition. */
  | { readonly kind: 'all' }
  /** A row that a condition found and writes or locks; not there unless an instance binds it. */
  | { readonly kind: 'found'; readonly variable: number };

/** A row at which an instance was linked to the one before it, and one at which it goes on: a condition may write two rows for that. */
const rowsFoundMax = 2;

export class SlottedTemplate {
  readonly slots: readonly Slot[];
  /** Variables of the template, then those of found rows. */
  readonly variables: number;
  readonly writesTable: ReadonlySet<number>;

  constructor(readonly template: Template) {
    const accesses = template.statements.flatMap((statement, index) => statement.map((access) => ({ access, index })));
    let variables = 0;
    for (const { access } of accesses) {
      if (access.row.kind === 'variable') variables = Math.max(variables, access.row.variable + 1);
    }
    this.slots = accesses.flatMap(({ access, index }): Slot[] => {
      const at = { statement: index, table: access.table };
      if (access.row.kind !== 'condition') return [{ ...at, target: access.row, access }];
      const found = access.writes === 0 && access.lock === 0 ? 0 : rowsFoundMax;
      const reads: RowAccess = { reads: access.reads, writes: 0, lock: lockStrength.none };
      return [
        { ...at, target: { kind: 'all' }, access: reads },
        ...Array.from({ length: found }, (): Slot => ({ ...at, target: { kind: 'found', variable: variables++ }, access })),
      ];
    });
    this.variables = variables;
    this.writesTable = new Set(this.slots.filter(({ access }) => access.writes !== 0).map(({ table }) => table));
  }
}

export type { TemplateAccess };
