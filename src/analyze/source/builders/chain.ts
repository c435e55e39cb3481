/** A builder's chain: an object whose methods each give the chain with one clause more, until one runs the statement. */
import type ts from 'typescript';
import {
  type Abstract,
  type Cell,
  constant,
  native,
  type Native,
  never,
  unknown,
  type Fragment,
} from '../abstract-value.ts';
import { type Completion, normalCompletion, type Machine, type Owner } from '../machine.ts';
import { overList } from '../over-list.ts';
import { truthOf } from '../value-arithmetic.ts';
import { onEachPath } from './choices.ts';
import { flat } from './fragment.ts';
import { printQuery, type Query, withNotRead } from './query.ts';
import { isConstant, not } from '../conditions.ts';
import { ownEntry } from './own-entry.ts';

/** What the methods of a chain need beside their arguments. */
export interface Chain<Names> {
  readonly machine: Machine;
  readonly owner: Owner;
  /** How the builder writes names, and what it knows of tables. */
  readonly names: Names;
  readonly query: Query;
  /** The calls so far. */
  readonly calls: readonly ts.Node[];
}

export type Clause<Names> = (chain: Chain<Names>, args: readonly Abstract[], at: ts.Node) => Query;

/** A method that ends the chain, or leaves it: it runs the statement, or gives something else than a chain. */
export type Ending<Names> = (chain: Chain<Names>, args: readonly Abstract[], at: ts.Node) => Abstract;

export interface Builder<Names> {
  readonly title: string;
  readonly clauses: Readonly<Record<string, Clause<Names>>>;
  readonly endings: Readonly<Record<string, Ending<Names>>>;
  /** What `await` gives, where it runs the statement. */
  readonly settle?: (chain: Chain<Names>, at: ts.Node) => Abstract;
  /** The builder changes itself: a later look at the same object sees the clause. */
  readonly isMutable: boolean;
}

export function chainOf<Names>(builder: Builder<Names>, chain: Chain<Names>): Native {
  const fixed = fixedChain(builder, chain);
  return builder.isMutable ? mutableChain(builder, chain.machine, fixed) : fixed;
}

/** The chain as it is at this moment, also of a builder that changes itself. */
export function fixedChain<Names>(builder: Builder<Names>, chain: Chain<Names>): Native {
  const { machine, query } = chain;
  const { title, settle } = builder;
  const fixed: Native = {
    kind: 'native',
    title,
    isHandle: true,
    isChain: true,
    forgotten: (reason) => fixedChain(builder, { ...chain, query: withNotRead(query, reason) }),
    sql: () => {
      machine.reached.withoutStep(chain.calls);
      return ['(', ...printQuery(query, machine.dialect), ')'];
    },
    ...(settle === undefined ? {} : { settle: (at) => settle(chain, at) }),
    member: (name) => methodOf(builder, chain, name),
  };
  queries.set(fixed, () => query);
  return fixed;
}

const queries = new WeakMap<Abstract, () => Query | undefined>();

/** The statement of a chain; `undefined` where it differs by path. */
export function queryOf(chain: Abstract): Query | undefined {
  return queries.get(chain)?.();
}

function methodOf<Names>(builder: Builder<Names>, chain: Chain<Names>, name: string): Native {
  const { machine, calls } = chain;
  const [clause, ending] = [ownEntry(builder.clauses, name), ownEntry(builder.endings, name)];
  return native(name, (given, at) =>
    onEachPath(machine, given, (args) => {
      const called = { ...chain, calls: [...calls, at] };
      if (ending !== undefined) return ending(called, args, at);
      const query =
        clause === undefined
          ? withNotRead(chain.query, `\`${name}\` of ${builder.title} is not read`)
          : clause(called, args, at);
      return fixedChain(builder, { ...called, query });
    }),
  );
}

function mutableChain<Names>(builder: Builder<Names>, machine: Machine, first: Native): Native {
  const cell: Cell = { value: first };
  const chain: Native = {
    kind: 'native',
    title: builder.title,
    isHandle: true,
    isChain: true,
    sql: () => (cell.value.kind === 'native' ? (cell.value.sql?.() ?? []) : []),
    ...(builder.settle === undefined ? {} : { settle: (at) => machine.settle(cell.value, at) }),
    member: (name, at) => {
      const method = machine.member(cell.value, name, at);
      return native(name, (args, callAt) => {
        const result = machine.call(method, args, callAt);
        if (!isChain(result)) return result;
        machine.memory.write(cell, result);
        return name === 'clone' ? mutableChain(builder, machine, result as Native) : chain;
      });
    },
  };
  queries.set(chain, () => queryOf(cell.value));
  return chain;
}

export function isChain(value: Abstract): boolean {
  if (value.kind === 'choice') return isChain(value.ifTrue) && isChain(value.ifFalse);
  return value.kind === 'native' && value.isChain === true;
}

/** Runs the statement and gives its rows; what was not read is listed instead. */
export function runQuery({ machine, owner, query, calls }: Chain<unknown>, at: ts.Node): Abstract {
  const { each } = query;
  if (each !== null) {
    const run = (element: Abstract): Completion => {
      const { insertColumns, rows, notRead } = each.rowOf(element);
      const own: Query = { ...query, insertColumns, rows, each: null, notRead: [...query.notRead, ...notRead] };
      runFragment(machine, owner, printQuery(own, machine.dialect), calls, at);
      return normalCompletion;
    };
    overList(machine, each.list, 'row', run, at);
    return unknown('the rows that a list makes');
  }
  return runFragment(machine, owner, printQuery(query, machine.dialect), calls, at);
}

export function runFragment(
  machine: Machine,
  owner: Owner,
  fragment: Fragment,
  calls: readonly ts.Node[],
  at: ts.Node,
  rawCall?: string,
): Abstract {
  const { text, parameters, reasons } = flat(fragment, machine.dialect);
  const site = siteOf(calls) ?? at;
  const place = machine.place(site);
  machine.reached.step(place, calls);
  const [reason] = reasons;
  if (reason !== undefined) {
    machine.notUnderstood(site, reason);
    return unknown('a result of a statement that is not understood');
  }
  // Not the call: its first argument is no SQL text.
  const { ts: api } = machine.project;
  const statementAt = api.isCallExpression(site) ? site.expression : site;
  return machine.statement(owner, { text: constant(text), parameters, at: statementAt, rawCall });
}

/** The chain where it begins: a later line may add to it, and a helper may run it. */
function siteOf(calls: readonly ts.Node[]): ts.Node | undefined {
  const [first] = calls;
  return calls.findLast(
    (call) =>
      first !== undefined &&
      call.getSourceFile() === first.getSourceFile() &&
      call.pos <= first.pos &&
      first.end <= call.end,
  );
}

/** What `of` makes of the rows, on each path on which they were read. */
export function ofRows(rows: Abstract, of: (statement: string) => Abstract): Abstract {
  if (rows.kind === 'choice') return { ...rows, ifTrue: ofRows(rows.ifTrue, of), ifFalse: ofRows(rows.ifFalse, of) };
  return rows.kind === 'rows' ? of(rows.statement) : rows;
}

export function firstRow(rows: Abstract): Abstract {
  return ofRows(rows, (statement) => ({ kind: 'row', statement }));
}

/** The first row, where the library throws without one. */
export function requireRow(machine: Machine, row: Abstract): Abstract {
  const isThere = truthOf(row);
  let ended: Abstract = row;
  machine.fork(
    not(isThere),
    () => {
      const completion = machine.raise();
      if (isConstant(isThere, false)) ended = never;
      return completion;
    },
    () => normalCompletion,
  );
  return ended;
}

/** All values of one column, as a list. */
export function columnOf(rows: Abstract, column: string): Abstract {
  return ofRows(rows, (statement) => ({ kind: 'value', value: { kind: 'column', statement, column, row: 'all' } }));
}

export function rowCount(rows: Abstract): Abstract {
  return ofRows(rows, (statement) => ({ kind: 'value', value: { kind: 'row-count', statement } }));
}
