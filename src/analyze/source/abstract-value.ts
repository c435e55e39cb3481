/** What an expression of the analysed source can be, as far as the reader of the source follows it. */
import type ts from 'typescript';
import type { Value } from '../application.ts';
import type { Connection } from './emitter.ts';

export type Abstract =
  /** A number, string, truth value, or an object of which only its origin is known. */
  | { readonly kind: 'value'; readonly value: Value }
  | { readonly kind: 'undefined' }
  /** The path ended before there was a value: it threw. */
  | { readonly kind: 'never' }
  | ObjectValue
  | ArrayValue
  | FunctionValue
  | ClassValue
  /** All rows of a statement's result, as a list. */
  | RowsValue
  /** The first row of a statement's result, if there is one. */
  | { readonly kind: 'row'; readonly statement: string }
  /** Something of a module outside the sources: `pg`, [`Pool`]. */
  | External
  | Native
  | Choice;

export interface RowsValue {
  readonly kind: 'rows';
  readonly statement: string;
  /** Where a row is an object with methods: that object, by the values of its fields. */
  readonly elementOf?: (field: (name: string) => Value) => Abstract;
  /** Rows that one row of the result has, joined: how many is not known. */
  readonly isPart?: boolean;
}

export interface ObjectValue {
  readonly kind: 'object';
  readonly properties: Map<string, Cell>;
  readonly of: ClassValue | null;
  /** Where a property that is not listed comes from: `{ ...row, paid: true }`, or a name that is computed. */
  rest: Abstract | null;
}

export interface ArrayValue {
  readonly kind: 'array';
  readonly elements: Cell<readonly Abstract[]>;
}

export interface FunctionValue {
  readonly kind: 'function';
  readonly node: FunctionNode;
  readonly scope: Scope;
  readonly self: Abstract | null;
}

export type FunctionNode =
  | ts.FunctionDeclaration
  | ts.FunctionExpression
  | ts.ArrowFunction
  | ts.MethodDeclaration
  | ts.ConstructorDeclaration
  | ts.GetAccessorDeclaration
  | ts.SetAccessorDeclaration;

export interface ClassValue {
  readonly kind: 'class';
  readonly node: ts.ClassLikeDeclaration;
  readonly scope: Scope;
}

export interface External {
  readonly kind: 'external';
  readonly module: string;
  readonly path: readonly string[];
  /** The functions of the sources that it was made with: `asyncHandler(fn)`. */
  readonly made?: readonly FunctionValue[];
  /** What its module was given, where a call made it. */
  readonly given?: readonly Value[];
  /** The call that made it is listed as not understood. */
  readonly isListed?: boolean;
}

/** An object that the reader knows by itself: a driver's handle, a part of a builder's chain. */
export interface Native {
  readonly kind: 'native';
  readonly title: string;
  /** It reaches a database: passed to code outside the sources, it is not followed any more. */
  readonly isHandle: boolean;
  /** Its `then` is a method of the library, not that of a promise. */
  readonly hasOwnThen?: true;
  readonly member?: (name: string, at: ts.Node) => Abstract | undefined;
  readonly call?: (args: readonly Abstract[], at: ts.Node) => Abstract;
  /** `new Account(values)` of a model. */
  readonly construct?: (args: readonly Abstract[], at: ts.Node) => Abstract;
  /** As the tag of a template. */
  readonly tag?: (texts: readonly string[], holes: readonly Abstract[], at: ts.Node) => Abstract;
  /** What `await` gives, where it is not the value itself: a query that runs when it is awaited. */
  readonly settle?: (at: ts.Node) => Abstract;
  /** What it is as a part of a statement: a builder's expression, a subquery. */
  readonly sql?: () => Fragment;
  /** A statement that a builder makes, with all its methods. */
  readonly isChain?: boolean;
  /** Of a statement that waits to be awaited: runs it on another connection. */
  readonly runOn?: (owner: Connection | null, at: ts.Node) => Abstract;
  /** Of a handle: the one that its transactions get. */
  readonly inTransaction?: () => Native;
  /** What stands for it where a loop changes what was `before`. */
  readonly forgotten?: (before: Abstract, reason: string) => Abstract;
}

export interface Choice {
  readonly kind: 'choice';
  readonly condition: Value;
  readonly ifTrue: Abstract;
  readonly ifFalse: Abstract;
  /** In a list: both sides are lists, and their elements are elements of this one. */
  readonly isSpread?: boolean;
}

/** What a value may be: what stands at the ends of choices within choices. They share their sides: each part is looked at once. */
export function* endsOf(value: Abstract): Generator<Exclude<Abstract, Choice>> {
  const seen = new Set<Abstract>();
  const rest = [value];
  for (let part = rest.pop(); part !== undefined; part = rest.pop()) {
    if (seen.has(part)) continue;
    seen.add(part);
    if (part.kind === 'choice') rest.push(part.ifFalse, part.ifTrue);
    else yield part;
  }
}

/** The first that is found at an end of the value. */
export function findInEnds<Found>(
  value: Abstract,
  find: (end: Exclude<Abstract, Choice>) => Found | undefined,
): Found | undefined {
  for (const end of endsOf(value)) {
    const found = find(end);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** A place in memory: a variable, a property, the elements of an array. Written through `Memory` only. */
export interface Cell<Of = Abstract> {
  value: Of;
}

/** A cell whose first value is made when it is first read. */
export class LazyCell implements Cell {
  #value: Abstract = undefinedValue;
  #make: (() => Abstract) | null;

  constructor(make: () => Abstract) {
    this.#make = make;
  }

  get value(): Abstract {
    const make = this.#make;
    this.#make = null;
    if (make !== null) this.#value = make();
    return this.#value;
  }

  set value(value: Abstract) {
    this.#make = null;
    this.#value = value;
  }
}

export class Scope {
  readonly cells = new Map<ts.Symbol, Cell>();
  readonly parent: Scope | null;
  readonly self: Abstract | null;

  constructor(parent: Scope | null, self: Abstract | null = parent?.self ?? null) {
    this.parent = parent;
    this.self = self;
  }

  find(symbol: ts.Symbol): Cell | undefined {
    return this.cells.get(symbol) ?? this.parent?.find(symbol);
  }
}

/** Keeps what a branch changed, so that the other branch starts from the same memory. */
export class Memory {
  #changed: Map<Cell<unknown>, unknown> = new Map();
  /** Around the innermost `during`, from the outermost on. */
  readonly #outer: Map<Cell<unknown>, unknown>[] = [];

  write<Of>(cell: Cell<Of>, value: Of): void {
    if (!this.#changed.has(cell)) this.#changed.set(cell, cell.value);
    cell.value = value;
  }

  /** How many `during` run. */
  get depth(): number {
    return this.#outer.length;
  }

  /** What was written within the `during` that began at `depth`, with its values now. */
  writtenSince(depth: number): ReadonlyMap<Cell<unknown>, unknown> {
    const cells = [...this.#outer.slice(depth + 1), this.#changed].flatMap((level) => [...level.keys()]);
    return new Map(cells.map((cell) => [cell, cell.value]));
  }

  /** Runs `body`, undoes its writes, and returns them. */
  during<Result>(body: () => Result): {
    readonly result: Result;
    readonly writes: ReadonlyMap<Cell<unknown>, unknown>;
  } {
    const outer = this.#changed;
    this.#outer.push(outer);
    this.#changed = new Map();
    try {
      const result = body();
      const writes = new Map([...this.#changed.keys()].map((cell) => [cell, cell.value]));
      for (const [cell, old] of this.#changed) cell.value = old;
      return { result, writes };
    } finally {
      this.#outer.pop();
      this.#changed = outer;
    }
  }
}

export const undefinedValue: Abstract = { kind: 'undefined' };
/** Of a property on the paths that do not set it: it is not there. */
export const absent: Abstract = { kind: 'undefined' };
export const never: Abstract = { kind: 'never' };

export function plain(value: Value): Abstract {
  return { kind: 'value', value };
}

export function constant(value: string | number | boolean | null): Abstract {
  return plain({ kind: 'constant', value });
}

/** It may be computed from anything that the unit has read. */
export function unknown(reason: string): Abstract {
  return plain({ kind: 'unknown', reason });
}

/** Of nothing that the unit read: a clock, a random number. */
export function fromOutside(reason: string): Abstract {
  return plain({ kind: 'unknown', reason, from: [] });
}

export function arrayOf(elements: readonly Abstract[]): ArrayValue {
  return { kind: 'array', elements: { value: elements } };
}

export function objectOf(properties: Readonly<Record<string, Abstract>>): ObjectValue {
  const cells = Object.entries(properties).map(([name, value]): [string, Cell] => [name, { value }]);
  return { kind: 'object', properties: new Map(cells), of: null, rest: null };
}

/** A function that the reader knows by itself. */
export function native(title: string, call: NonNullable<Native['call']>): Native {
  return { kind: 'native', title, isHandle: false, call };
}

export type Fragment = readonly Part[];

export type Part = string | Abstract | ColumnPart | NotRead;

/** A column of a table object. Its table is written only where the statement has more than one. */
export interface ColumnPart {
  readonly kind: 'column-part';
  /** The table's name in the statement: its alias, where it has one. */
  readonly table: string;
  readonly name: string;
}

export interface NotRead {
  readonly kind: 'not-read';
  /** A clause: `\`merge\` of Kysely is not read`. */
  readonly reason: string;
}
