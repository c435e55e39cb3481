/**
 * Window functions, over the rows that are left after GROUP BY and HAVING. Supported frames: the default (from the start of the partition to
 * the last row that sorts equal), whole partitions, and ROWS from the start to the current row. PostgreSQL manual, 9.22 and 4.2.8.
 */
import type { FuncCall, Node, SelectStmt, WindowDef } from '@pgsql/types';
import { assert } from '../../base/assert.ts';
import { rowKey } from '../row-key.ts';
import {
  type Aggregate,
  aggregateOf,
  coerce,
  compileExpression,
  functionTable,
  isAggregate,
  unknownFunction,
} from '../expressions/index.ts';
import type { Dialect } from '../dialect.ts';
import type { Expression, Frame } from '../expression.ts';
import { notSupported, SqlError } from '../sql-error.ts';
import { type SqlType, types } from '../type.ts';
import type { SqlValue } from '../value.ts';
import { restore } from './grouping.ts';
import { computedExpression, type QueryScope } from './scope.ts';
import { type CompareKeys, keyComparator, sortByOf, sortOrder } from './sort.ts';
import type { Source } from './source.ts';
import { stringsOf } from './tree.ts';

interface Window {
  readonly partition: readonly Expression[];
  readonly order: readonly Expression[];
  readonly compare: CompareKeys;
  readonly span: 'peers' | 'partition' | 'row';
}

/** A function over the rows of a partition, in order: a value for each. */
type Compute = (partition: readonly Kept[], window: Window, frame: Frame) => SqlValue[];

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
    const { type, compute } = this.#function(call);
    const slot = { number: -1 };
    this.#calls.push({ window: this.#window(over), compute, slot });
    return { ...computedExpression(0, type), evaluate: (frame) => frame.computed[slot.number] ?? null };
  };

  /** `width`: how many computed values there are already. */
  source(input: Source, width: number): Source {
    for (const [i, { slot }] of this.#calls.entries()) slot.number = width + i;
    const calls = this.#calls;
    const { dialect } = this.#scope;
    return function* windows(frame) {
      const states: { rows: Frame['rows']; computed: SqlValue[] }[] = [];
      for (const _ of input(frame)) states.push({ rows: [...frame.rows], computed: frame.computed.slice(0, width) });
      for (const { window, compute, slot } of calls) fill(states, window, compute, slot.number, frame, dialect);
      for (const { rows, computed } of states) {
        restore(frame, rows, computed);
        yield undefined;
      }
    };
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
      span: spanOf(definition),
    };
  }

  #named(over: WindowDef): WindowDef {
    const name = over.name ?? over.refname ?? '';
    const found = this.#definitions.get(name);
    if (found === undefined) throw new SqlError('42704', `window "${name}" does not exist`);
    const definition = found.refname === undefined ? found : this.#extended(found);
    return over.name === undefined ? this.#extended(over, definition) : definition;
  }

  /** `(w ORDER BY x ROWS ...)`: the partition is that of `w`, the frame its own. */
  #extended(over: WindowDef, base: WindowDef = this.#named({ refname: over.refname ?? '' })): WindowDef {
    return { ...over, ...partitionOf(base), ...(over.orderClause === undefined ? orderOf(base) : {}) };
  }

  #compile(node: Node): Expression {
    return compileExpression(this.#prepare(node), this.#scope);
  }

  #function(call: FuncCall): { type: SqlType; compute: Compute } {
    const name = stringsOf(call.funcname).at(-1) ?? '';
    if (isAggregate(call)) {
      const { over: _over, ...plain } = call;
      const aggregate = aggregateOf(this.#argumentsPrepared(plain), this.#scope);
      return { type: aggregate.type, compute: overFrame(aggregate) };
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

function partitionOf({ partitionClause }: WindowDef): Pick<WindowDef, 'partitionClause'> {
  return partitionClause === undefined ? {} : { partitionClause };
}

function orderOf({ orderClause }: WindowDef): Pick<WindowDef, 'orderClause'> {
  return orderClause === undefined ? {} : { orderClause };
}

// nodes/parsenodes.h, FRAMEOPTION_*
const rowsMode = 0x00004;
const startUnboundedPreceding = 0x00020;
const endUnboundedFollowing = 0x00100;
const endCurrentRow = 0x00400;

function spanOf({ frameOptions = 0, orderClause }: WindowDef): Window['span'] {
  const isFromStart = (frameOptions & startUnboundedPreceding) !== 0;
  if (isFromStart && (frameOptions & endUnboundedFollowing) !== 0) return 'partition';
  if (isFromStart && (frameOptions & endCurrentRow) !== 0) {
    if ((frameOptions & rowsMode) !== 0) return 'row';
    return orderClause === undefined ? 'partition' : 'peers';
  }
  throw notSupported('this window frame');
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
    const values = compute(partition, window, frame);
    for (const [i, { computed }] of partition.entries()) computed[slot] = values[i] ?? null;
  }
}

/** The position after the last row of the frame of row i. */
function frameEnd(partition: readonly Kept[], { span, compare }: Window, i: number): number {
  if (span === 'partition') return partition.length;
  if (span === 'row') return i + 1;
  let end = i + 1;
  while (end < partition.length && compare(partition[i]?.order ?? [], partition[end]?.order ?? []) === 0) end++;
  return end;
}

function overFrame(aggregate: Aggregate): Compute {
  return (partition, window, frame) => {
    const state = aggregate.start();
    const values: SqlValue[] = [];
    let done = 0;
    while (values.length < partition.length) {
      const end = frameEnd(partition, window, values.length);
      for (; done < end; done++) {
        const kept = partition[done];
        if (kept !== undefined) restore(frame, kept.rows, kept.computed);
        state.add(frame);
      }
      values.push(state.result(frame));
    }
    return values;
  };
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

function windowFunction(
  name: string,
  args: readonly Expression[],
  scope: QueryScope,
): { type: SqlType; compute: Compute } | undefined {
  const [first, second, third] = args;
  const valueAt = (expression: Expression, kept: Kept | undefined, frame: Frame): SqlValue => {
    if (kept === undefined) return null;
    restore(frame, kept.rows, kept.computed);
    return expression.evaluate(frame);
  };
  switch (name) {
    case 'row_number':
      return { type: types.int8, compute: (partition) => partition.map((_, i) => BigInt(i + 1)) };
    case 'rank':
    case 'dense_rank':
      return { type: types.int8, compute: (partition, window) => ranks(partition, window, name === 'dense_rank') };
    case 'lag':
    case 'lead': {
      if (first === undefined) return undefined;
      const distance = second === undefined ? undefined : coerce(second, types.int4, -1, 'implicit', scope);
      const fallback = third === undefined ? undefined : coerce(third, first.type, -1, 'implicit', scope);
      const compute: Compute = (partition, _window, frame) =>
        partition.map((kept, i) => {
          const by = distance === undefined ? 1 : valueAt(distance, kept, frame);
          if (by === null) return null;
          const other = partition[name === 'lag' ? i - (by as number) : i + (by as number)];
          return other === undefined && fallback !== undefined
            ? valueAt(fallback, kept, frame)
            : valueAt(first, other, frame);
        });
      return { type: first.type, compute };
    }
    case 'first_value':
    case 'last_value': {
      if (first === undefined) return undefined;
      const compute: Compute = (partition, window, frame) =>
        partition.map((_, i) => {
          const at = name === 'first_value' ? 0 : frameEnd(partition, window, i) - 1;
          return valueAt(first, partition[at], frame);
        });
      return { type: first.type, compute };
    }
    default:
      return undefined;
  }
}

function ranks(partition: readonly Kept[], { compare }: Window, isDense: boolean): SqlValue[] {
  let rank = 0;
  return partition.map((kept, i) => {
    const before = partition[i - 1];
    if (before === undefined || compare(before.order, kept.order) !== 0) rank = isDense ? rank + 1 : i + 1;
    return BigInt(rank);
  });
}
