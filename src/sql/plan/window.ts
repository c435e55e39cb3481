/** Window functions, over the rows that are left after GROUP BY and HAVING. PostgreSQL manual, 4.2.8 and 7.2.5. */
import type { FuncCall, Node, SelectStmt, WindowDef } from '@pgsql/types';
import { assert } from '../../base/index.ts';
import { rowKey, type Dialect, SqlError, type SqlType, types, type SqlValue } from '../model/index.ts';
import { aggregateOf, compileExpression, functionTable, isAggregate, unknownFunction } from '../expressions/index.ts';
import type { Expression, Frame } from '../expression.ts';
import { computedExpression, type QueryScope } from './scope.ts';
import { type CompareKeys, keyComparator, sortByOf, sortOrder } from './sort.ts';
import { forEachRow, generated, type Source } from './cursor.ts';
import { stringsOf } from './tree.ts';
import { type Ordered, planFrame, type WindowFrame } from './window-frame.ts';
import { type Compute, overFrame, windowFunction } from './window-function.ts';
import { restore } from './query.ts';

interface Window {
  readonly partition: readonly Expression[];
  readonly order: readonly Expression[];
  readonly compare: CompareKeys;
  readonly frame: WindowFrame;
}

interface Kept {
  readonly rows: Frame['rows'];
  readonly computed: SqlValue[];
  readonly partition: string;
  readonly order: readonly SqlValue[];
}

interface Call {
  readonly window: Window;
  readonly compute: Compute;
  /** Its place in the computed values, once the grouping's width is known. */
  readonly slot: { number: number };
}

export class WindowCollector {
  readonly #scope: QueryScope;
  readonly #definitions: ReadonlyMap<string, WindowDef>;
  readonly #prepare: (node: Node) => Node;
  readonly #calls: Call[] = [];

  constructor(select: SelectStmt, scope: QueryScope, prepare: (node: Node) => Node) {
    this.#scope = scope;
    this.#prepare = prepare;
    const named = (select.windowClause ?? []).flatMap((node) => ('WindowDef' in node ? [node.WindowDef] : []));
    this.#definitions = new Map(named.map((definition) => [definition.name ?? '', definition]));
  }

  get isEmpty(): boolean {
    return this.#calls.length === 0;
  }

  readonly take = (call: FuncCall): Expression => {
    const { over } = call;
    assert(over !== undefined, 'a window function has a window');
    const { type, isUnsigned = false, compute } = this.#function(call);
    const slot = { number: -1 };
    this.#calls.push({ window: this.#window(over), compute, slot });
    return { ...computedExpression(0, type), isUnsigned, evaluate: (frame) => frame.computed[slot.number] ?? null };
  };

  /** `width`: how many computed values there are already. */
  source(input: Source, width: number): Source {
    for (const [i, { slot }] of this.#calls.entries()) slot.number = width + i;
    const calls = this.#calls;
    const { dialect } = this.#scope;
    return generated(function* windows(frame) {
      const states: { rows: Frame['rows']; computed: SqlValue[] }[] = [];
      forEachRow(input, frame, () => {
        states.push({ rows: [...frame.rows], computed: frame.computed.slice(0, width) });
      });
      for (const { window, compute, slot } of calls) fill(states, window, compute, slot.number, frame, dialect);
      for (const { rows, computed } of states) {
        restore(frame, rows, computed);
        yield undefined;
      }
    });
  }

  #window(over: WindowDef): Window {
    const definition = over.name !== undefined || over.refname !== undefined ? this.#named(over) : over;
    const order = (definition.orderClause ?? []).map(sortByOf);
    const expressions = order.map(({ node }) => this.#compile(node));
    const orders = order.map((sort, i) => sortOrder(sort, expressions[i]?.type ?? types.text, this.#scope.dialect));
    return {
      partition: (definition.partitionClause ?? []).map((node) => this.#compile(node)),
      order: expressions,
      compare: keyComparator(orders, this.#scope.dialect),
      frame: planFrame(definition, { keys: expressions, orders }, this.#scope),
    };
  }

  #named(over: WindowDef): WindowDef {
    const name = over.name ?? over.refname ?? '';
    const found = this.#definitions.get(name);
    if (found === undefined) throw new SqlError('42704', `window "${name}" does not exist`);
    const definition = found.refname === undefined ? found : this.#extended(found);
    return over.name === undefined ? this.#extended(over, definition) : definition;
  }

  /** `(w ORDER BY x ROWS ...)`: the partition is that of `w`, the frame its own. @throws SqlError 42P20 */
  #extended(over: WindowDef, base: WindowDef = this.#named({ refname: over.refname ?? '' })): WindowDef {
    const name = over.refname ?? '';
    const refused = (what: string): SqlError =>
      new SqlError('42P20', `cannot ${what}`, { position: (over.location ?? 0) + 1 });
    if (over.partitionClause !== undefined) throw refused(`override PARTITION BY clause of window "${name}"`);
    if (over.orderClause !== undefined && base.orderClause !== undefined)
      throw refused(`override ORDER BY clause of window "${name}"`);
    if (((base.frameOptions ?? 0) & isNotDefault) !== 0)
      throw refused(`copy window "${name}" because it has a frame clause`);
    return { ...over, ...partitionOf(base), ...(over.orderClause === undefined ? orderOf(base) : {}) };
  }

  #compile(node: Node): Expression {
    return compileExpression(this.#prepare(node), this.#scope);
  }

  #function(call: FuncCall): { type: SqlType; isUnsigned?: boolean; compute: Compute } {
    const name = stringsOf(call.funcname).at(-1) ?? '';
    if (isAggregate(call)) {
      const { over: _over, ...plain } = call;
      const aggregate = aggregateOf(this.#argumentsPrepared(plain), this.#scope);
      return { type: aggregate.type, isUnsigned: aggregate.isUnsigned, compute: overFrame(aggregate) };
    }
    const args = (call.args ?? []).map((node) => this.#compile(node));
    const made = windowFunction(name, args, this.#scope);
    if (made === undefined) throw unknownWindowFunction(name, args, this.#scope, (call.location ?? 0) + 1);
    return made;
  }

  /** An aggregate over groups: its arguments are those of the grouped query. */
  #argumentsPrepared(call: FuncCall): FuncCall {
    return call.args === undefined ? call : { ...call, args: call.args.map((node) => this.#prepare(node)) };
  }
}

/** nodes/parsenodes.h, FRAMEOPTION_NONDEFAULT. */
const isNotDefault = 0x00001;

function partitionOf({ partitionClause }: WindowDef): Pick<WindowDef, 'partitionClause'> {
  return partitionClause === undefined ? {} : { partitionClause };
}

function orderOf({ orderClause }: WindowDef): Pick<WindowDef, 'orderClause'> {
  return orderClause === undefined ? {} : { orderClause };
}

function fill(
  states: readonly { rows: Frame['rows']; computed: SqlValue[] }[],
  window: Window,
  compute: Compute,
  slot: number,
  frame: Frame,
  dialect: Dialect,
): void {
  const partitions = new Map<string, Kept[]>();
  const partitionTypes = window.partition.map(({ type }) => type);
  for (const { rows, computed } of states) {
    restore(frame, rows, computed);
    const values = window.partition.map(({ evaluate }) => evaluate(frame));
    const partition = rowKey(values, partitionTypes, dialect);
    const kept: Kept = { rows, computed, partition, order: window.order.map(({ evaluate }) => evaluate(frame)) };
    const others = partitions.get(partition);
    if (others === undefined) partitions.set(partition, [kept]);
    else others.push(kept);
  }
  for (const partition of partitions.values()) {
    partition.sort((a, b) => window.compare(a.order, b.order));
    const values = compute(orderedOf(partition, window, frame), window.frame, frame);
    for (const [i, { computed }] of partition.entries()) computed[slot] = values[i] ?? null;
  }
}

/** The partition as its window functions see it. */
function orderedOf(partition: readonly Kept[], { compare }: Window, frame: Frame): Ordered {
  const peersStart: number[] = [];
  const peersEnd: number[] = [];
  for (let start = 0, i = 0; i < partition.length; i++) {
    const before = partition[i - 1];
    if (before !== undefined && compare(before.order, partition[i]?.order ?? []) !== 0) start = i;
    peersStart.push(start);
  }
  for (let end = partition.length, i = partition.length - 1; i >= 0; i--) {
    peersEnd[i] = end;
    if (peersStart[i] === i) end = i;
  }
  const visit = (i: number): void => {
    const kept = partition[i];
    if (kept !== undefined) restore(frame, kept.rows, kept.computed);
  };
  return { length: partition.length, peersStart, peersEnd, visit };
}

function unknownWindowFunction(
  name: string,
  args: readonly Expression[],
  scope: QueryScope,
  position: number,
): SqlError {
  if (!functionTable.has(name)) return unknownFunction(name, args, 'none', scope, position);
  const message = `OVER specified, but ${name} is not a window function nor an aggregate function`;
  return new SqlError('42809', message, { position });
}
