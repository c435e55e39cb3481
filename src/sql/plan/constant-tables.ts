/**
 * A table of which the conditions give a whole unique key, by values that no row decides, is constant to MariaDB: its row is read, and locked, while the
 * statement is optimized, before the rows of other tables and whether the statement comes to need it or not (`make_join_statistics`). So are those of
 * subqueries, wherever they stand: first of those that have one value for the statement, then the query's own, then of the subqueries that each row
 * asks, the last in the text before the others (`JOIN::optimize`, `optimize_unflattened_subqueries`).
 */
import type { Frame, SubqueryUse } from '../expression.ts';
import type { AccessPath, RowCondition, TableId } from '../model/index.ts';
import type { PreludeStep } from './planning.ts';
import { newFrame } from './query.ts';

/** What a query inside another is to it: `part` of its FROM or its rows, or a subquery; `apart`: it is planned for its conditions alone. */
export type QueryUse = SubqueryUse | 'part' | 'apart';

export interface ConstantTable {
  readonly table: TableId;
  readonly paths: (frame: Frame) => readonly AccessPath[];
  readonly condition: (frame: Frame) => RowCondition;
  /** `null`: the rows decide. */
  readonly isPossible: ((frame: Frame) => boolean) | null;
}

/** A query inside, which may still be planned. */
interface InnerQuery {
  readonly constants: ConstantTables;
  /** Does it look at a query around? */
  readonly reachesOut: boolean;
}

interface Inside {
  readonly query: InnerQuery;
  readonly use: QueryUse;
}

/** Those of one query and of the queries inside it. */
export class ConstantTables {
  readonly #own: ConstantTable[] = [];
  readonly #inside: Inside[] = [];

  enter(query: InnerQuery, use: QueryUse): void {
    if (use !== 'apart') this.#inside.push({ query, use });
  }

  /** How many queries inside have been planned. */
  get size(): number {
    return this.#inside.length;
  }

  /** The first `count` stand behind the others in the text. */
  putLast(count: number): void {
    this.#inside.push(...this.#inside.splice(0, count));
  }

  /** The constant tables of the query's FROM. */
  add(found: readonly ConstantTable[]): void {
    this.#own.push(...found);
  }

  /** `null`: there is none to be read before its time. */
  prelude(): PreludeStep | null {
    const tables = this.#inOrder();
    if (tables.length === this.#own.length && tables.length < 2) return null;
    return function* readFirst(running) {
      const { view } = running;
      if (view.lockConstant === undefined) return;
      const frame = newFrame(0, running, null);
      for (const { table, paths, condition, isPossible } of tables) {
        if (isPossible?.(frame) === false) continue;
        for (const path of paths(frame)) yield* view.lockConstant(table, path, condition(frame));
      }
    };
  }

  #inOrder(): ConstantTable[] {
    const tablesOf = (inside: readonly Inside[]): ConstantTable[] =>
      inside.flatMap(({ query }) => query.constants.#inOrder());
    const hasOneValue = ({ query, use }: Inside): boolean => use === 'value' && !query.reachesOut;
    const isAsked = (inside: Inside): boolean => inside.use !== 'part' && !hasOneValue(inside);
    const fromLast = this.#inside.toReversed();
    return [
      ...tablesOf(fromLast.filter(hasOneValue)),
      ...tablesOf(this.#inside.filter(({ use }) => use === 'part')),
      ...this.#own,
      ...tablesOf(fromLast.filter(isAsked)),
    ];
  }
}
