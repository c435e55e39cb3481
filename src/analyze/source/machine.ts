/** What the parts of the source reader share: one run of it over one unit. */
import type ts from 'typescript';
import type { IsolationName } from '../../sql/index.ts';
import type { Dialect, Place, Value } from '../application.ts';
import type {
  Abstract,
  Cell,
  ClassValue,
  External,
  FunctionNode,
  FunctionValue,
  Memory,
  Native,
  Scope,
} from './abstract-value.ts';
import type { Connection, Emitter } from './emitter.ts';
import type { Project } from './project.ts';
import type { Reached } from './reached.ts';
import type { TableColumns } from './table-columns.ts';
import type { Globals } from './globals.ts';

/** How a path continues after a statement. */
export interface Completion {
  readonly end: 'none' | 'return' | 'jump' | 'throw';
  /** Conditions on which a part of the path ended, while the rest continues. */
  readonly ended: readonly { readonly end: 'return' | 'jump'; readonly condition: Value }[];
}

/** A path on which a function returned. */
export interface Returned {
  readonly path: readonly Value[];
  readonly value: Abstract;
  /** What it had written until then. */
  readonly writes: ReadonlyMap<Cell<unknown>, unknown>;
}

export interface Frame {
  readonly fn: FunctionValue | null;
  /** It takes a function, `withTransaction(fn)`, or SQL text, `query('BEGIN')`: a transaction that it begins is named after its caller. */
  readonly isHelper: boolean;
  readonly call: ts.Node;
  readonly pathLength: number;
  readonly returns: Returned[];
  /** Of the memory, where it began. */
  readonly depth: number;
}

/** A unit to read: a route's handlers, a function that a library calls. */
export interface FoundUnit {
  readonly name: string;
  readonly node: ts.Node;
  readonly functions: readonly FunctionValue[];
  /** How its parameters are named: requests have no prefix. */
  readonly kind: 'route' | 'callback' | 'function';
  readonly isCallerLost?: boolean;
  /** They run before it, and decide whether it does. */
  readonly guards?: readonly FunctionValue[];
  /** Of a router: where it stands among what the router runs. */
  readonly route?: { readonly router: ts.Symbol | undefined; readonly path: string; readonly after: number };
}

/** Functions that an application or a router runs before the handlers of its routes. */
export interface Middleware {
  readonly functions: readonly FunctionValue[];
  readonly router: ts.Symbol | undefined;
  /** Of what it is before, its own router apart: all, or what is mounted on it. */
  readonly isOfRouter: boolean;
  readonly path: string | null;
}

/** A router, and one that it mounts. */
export type Mount = readonly [parent: ts.Symbol | undefined, child: ts.Symbol | undefined];

export interface Sql {
  readonly text: Abstract;
  readonly parameters: Abstract | readonly Abstract[];
  readonly at: ts.Node;
  /** As of `Statement`. */
  readonly rawCall?: string | undefined;
}

/** A connection of a driver. `null`: a pool, any connection for each statement. */
export type Owner = Connection | null;

export interface Machine {
  readonly project: Project;
  readonly dialect: Dialect;
  /** Of the schema. */
  readonly tables: TableColumns;
  readonly memory: Memory;
  readonly globals: Globals;
  emitter: Emitter;
  frames: readonly Frame[];
  handlers: readonly (() => Completion)[];
  /** Functions that ran in this unit. */
  readonly called: Set<FunctionNode>;
  /** Functions that were made, each as it was last, with what it closes over. */
  readonly made: Map<ts.Node, FunctionValue>;
  /** In the order in which they were registered. */
  readonly middleware: Middleware[];
  readonly mounts: Mount[];
  /** Properties of objects that are not made in the sources, by owner and name, as this unit sets them. */
  readonly attached: Map<string, Cell>;
  /** By module, what code outside the sources was given in this unit; `null`: objects of which no module is known. */
  readonly given: Map<string | null, readonly Value[]>;
  /** What the unit returned, and what it gave to objects of which no module is known, and to their functions: a response. */
  readonly shown: Value[];
  /** By all units. */
  readonly reached: Reached;
  found(unit: FoundUnit): void;
  /** A file runs from the top, or what it registered: functions that it passes on are units of their own. */
  isSetup: boolean;
  /** It runs a function of which the caller was not found. */
  isCallerLost: boolean;
  /** Begins another unit. */
  restart(): void;
  evaluateSymbol(symbol: ts.Symbol): Abstract;
  /** Counts a side of a choice of which a property is read: of many choices within choices each expression looks at all. */
  lookAtSide(): void;

  evaluate(node: ts.Expression, scope: Scope): Abstract;
  /** What a declared type stands for: a driver's handle, an instance of a class of the sources. */
  ofType(node: ts.TypeNode | undefined, scope: Scope): Abstract | undefined;
  /** What the static members of a class are that extends `external`. */
  modelOf(external: External, type: ClassValue): Abstract | undefined;
  member(object: Abstract, name: string, at: ts.Node): Abstract;
  /** Of something that is not made in the sources: what a driver knows by the name. */
  outsideMember(name: string): Abstract | undefined;
  call(callee: Abstract, args: readonly Abstract[], at: ts.Node): Abstract;
  /** A function of the sources, or one of the reader. */
  invoke(fn: FunctionValue, args: readonly Abstract[], at: ts.Node): Abstract;
  construct(callee: Abstract, args: readonly Abstract[], at: ts.Node): Abstract;
  /** Does a call of a function outside the sources give it what is a handle by its use or its name? */
  passesHandle(callee: Abstract, args: readonly Abstract[], at: ts.Node): boolean;
  external(external: External): Abstract;
  /** The handle that a tag must be by its template's text. */
  textTag(tag: Abstract, texts: readonly string[], at: ts.TaggedTemplateExpression): Abstract | undefined;
  bind(name: ts.BindingName, value: Abstract, scope: Scope): void;
  settle(value: Abstract, at: ts.Node): Abstract;

  block(statements: readonly ts.Statement[], scope: Scope): Completion;
  fork(condition: Value, ifTrue: () => Completion, ifFalse: () => Completion): Completion;
  raise(): Completion;
  /** @param over what it is over; a function: on what it depends that it runs once more */
  loop(name: string, over: Value | (() => Value), body: (element: Abstract) => Completion, at: ts.Node): Completion;

  /** Runs a statement and returns all its rows. */
  statement(owner: Owner, sql: Sql): Abstract;
  begin(connection: Connection, level: IsolationName | null, at: ts.Node): void;
  commit(connection: Connection, at: ts.Node): void;
  rollback(connection: Connection): void;
  /** Runs `body` in a transaction that commits behind it, and rolls back when it throws. */
  inTransaction(connection: Connection, level: IsolationName | null, at: ts.Node, body: () => Abstract): Abstract;
  savepoint(connection: Connection, name: string, at: ts.Node): void;
  notUnderstood(at: ts.Node, reason: string): void;
  /** Of all units: what names are taken for, as clauses. */
  readonly assumed: Set<string>;
  place(at: ts.Node): Place;
}

/** `User` in `Repository<User>`: its class, where it is one. */
export type TypeArgument = () => Abstract | undefined;

export interface Driver {
  /** Does it know the module? */
  readonly modules: RegExp;
  /** `pg`'s `Pool`: path [`Pool`]; a default import is [`default`], a namespace []. */
  construct?(machine: Machine, external: External, args: readonly Abstract[], at: ts.Node): Abstract | undefined;
  call?(machine: Machine, external: External, args: readonly Abstract[], at: ts.Node): Abstract | undefined;
  ofType?(machine: Machine, external: External, types: readonly TypeArgument[]): Abstract | undefined;
  /** What the static members of a class of the sources are that extends one of the driver. */
  modelOf?(machine: Machine, external: External, type: ClassValue): Abstract | undefined;
  /** What an imported name is, where it is more than a function or class: `sql` of Kysely. */
  value?(machine: Machine, external: External): Abstract | undefined;
  /** Methods that no other library has, and which begin a statement: a call of one that no unit reaches is listed. */
  readonly startsStatement?: RegExp;
  /** The same for a call that more than its name tells: `db('accounts').where(...)` on a handle that the reader lost. */
  readonly isLostStatement?: (ts: Project['ts'], call: ts.CallExpression) => boolean;
  /** A call of a model's method, which other objects may have too: `Account.create(...)`. */
  readonly isModelCall?: (machine: Machine, method: string, receiver: Abstract) => boolean;
  /** What a member is of something that is not made in the sources: `request.app.get('database').models`. */
  readonly outsideMember?: (machine: Machine, name: string) => Abstract | undefined;
  /** A handle of which nothing is known but a call of it. */
  readonly byUse?: {
    /** @param first The first argument, where it is constant. */
    readonly isUse: (ts: Project['ts'], call: ts.CallExpression, first: unknown) => boolean;
    readonly handleOf: (machine: Machine, owner: Owner) => Native;
    /** What the function of `x.transaction(fn)` gets, whatever it does with it. */
    readonly inTransaction?: (machine: Machine, connection: Connection) => Native;
  };
}

export type { Cell };
/** The path continues with the next statement (ECMAScript's normal completion). */
export const normalCompletion: Completion = { end: 'none', ended: [] };
