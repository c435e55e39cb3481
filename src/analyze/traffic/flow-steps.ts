/** A flow of recorded transactions as steps of the abstract program, each value of a statement as what it is computed from. */
import { exactColumn } from '../../sql/index.ts';
import type { Place, Statement, Step, Value } from '../application.ts';
import { formatValue } from '../format-application.ts';
import { mapStatements } from '../paths.ts';
import { indexColumns, uniqueIndexes } from '../row-keys.ts';
import type { Schema } from '../schema.ts';
import { withSeenCounts } from '../seen-counts.ts';
import type { ResultColumn } from '../statement-columns.ts';
import { type Flow, type FlowBranch, resultOfElement } from './flow-variants.ts';
import { type Inferred, inferValue, type Observed, type Source } from './infer-value.ts';
import type { RanEvent, RanStatement } from './ran-transactions.ts';
import { columnsOfShape, domainOf, type ShapeColumns } from './slot-columns.ts';
import { type Shape, type Slot, textOfShape } from './statement-shape.ts';

/** What a value of a statement was taken for, and why. */
export interface Inference {
  readonly place: Place;
  readonly sql: string;
  /** `$1` */
  readonly parameter: string;
  readonly value: Value;
  /** `equal in 118 of 118` */
  readonly basis: string;
}

export interface FlowSteps {
  readonly steps: readonly Step[];
  readonly inferences: readonly Inference[];
  /** Of its statements, each once: `SELECT accounts`. */
  readonly titles: readonly string[];
}

export interface FlowOptions {
  readonly schema: Schema;
  /** Are constants of texts the program's own, because its client sends values apart? */
  readonly ownsConstants: boolean;
}

export function stepsOfFlow(flow: Flow, options: FlowOptions): FlowSteps {
  const builder = new FlowBuilder(options);
  const steps = withoutUnusedResults(withSeenCounts(builder.steps(flow, 0, []), []));
  return { steps, inferences: builder.inferences, titles: [...builder.titles] };
}

/** One observation: a transaction of a flow, and which time around a loop. */
interface Observation {
  readonly transaction: number;
  readonly iteration: number;
}

class FlowBuilder {
  readonly inferences: Inference[] = [];
  readonly titles = new Set<string>();
  readonly #options: FlowOptions;
  readonly #columns = new Map<string, ShapeColumns>();
  readonly #names = new Set<string>();
  /** By the place of an element: the name of its result. */
  readonly #results = new Map<number, string>();

  constructor(options: FlowOptions) {
    this.#options = options;
  }

  /** @param sources of the elements before, by transaction of this flow */
  steps(flow: Flow, from: number, sources: readonly Source[]): readonly Step[] {
    const steps: Step[] = [];
    const known = [...sources];
    for (let at = from; at < flow.at; at += 1) {
      const element = this.#element(flow, at, known);
      steps.push(...element.steps);
      known.push(...element.sources);
    }
    if (flow.next !== null) steps.push(this.#branch(flow, flow.next, known));
    else if (flow.end === 'abort') steps.push({ kind: 'abort' });
    return steps;
  }

  #branch(flow: Flow, { condition, ifTrue, ifFalse }: FlowBranch, sources: readonly Source[]): Step {
    const side = (inner: Flow): readonly Step[] => {
      const places = inner.transactions.map((one) => flow.transactions.indexOf(one));
      const steps = this.steps(
        inner,
        flow.at,
        sources.map((source) => ({ ...source, observed: places.map((at) => source.observed[at]) })),
      );
      return inner.next === null && inner.end === 'commit' && steps.length === 0 ? [{ kind: 'return' }] : steps;
    };
    const value =
      condition === null
        ? ({ kind: 'argument', name: this.#unique('leaves') } as const)
        : inResult(condition.value, this.#results.get(condition.element) ?? '');
    return { kind: 'branch', condition: value, ifTrue: side(ifTrue), ifFalse: side(ifFalse) };
  }

  #element({ transactions }: Flow, at: number, sources: readonly Source[]): Produced {
    const elements = transactions.map(({ elements: all }) => all[at]);
    const [first] = elements;
    if (first === undefined) return nothing;
    if (!first.isLoop) {
      const events = elements.flatMap((element) => element?.iterations[0]?.[0] ?? []);
      return this.#event(events, sources, (name) => this.#results.set(at, name));
    }
    return this.#loop(
      elements.map((element) => element?.iterations ?? []),
      sources,
    );
  }

  #loop(iterations: readonly (readonly (readonly RanEvent[])[])[], outer: readonly Source[]): Produced {
    const observations = iterations.flatMap((all, transaction) =>
      all.map((_, iteration): Observation => ({ transaction, iteration })),
    );
    const [example] = iterations.find((all) => all.length > 0) ?? [];
    if (example === undefined) return nothing;
    const list = this.#unique('items');
    const loop = this.#unique('item');
    const known: Source[] = outer.map((source) => ({
      ...source,
      observed: observations.map(({ transaction }) => source.observed[transaction]),
    }));
    const steps: Step[] = [];
    for (const position of example.keys()) {
      const events = observations.flatMap(
        ({ transaction, iteration }) => iterations[transaction]?.[iteration]?.[position] ?? [],
      );
      const made = this.#event(events, known, () => undefined, loop);
      steps.push(...made.steps);
      known.push(...made.sources);
    }
    return { steps: [{ kind: 'loop', name: loop, over: { kind: 'argument', name: list }, steps }], sources: [] };
  }

  #event(
    events: readonly RanEvent[],
    sources: readonly Source[],
    onResult: (name: string) => void,
    loop: string | null = null,
  ): Produced {
    const [first] = events;
    if (first === undefined) return nothing;
    if (first.kind === 'savepoint') return { steps: [{ kind: 'savepoint', name: first.name }], sources: [] };
    if (first.kind === 'rollback-to')
      return { steps: [{ kind: 'rollback-to-savepoint', name: first.name }], sources: [] };
    const ran = events.filter((event) => event.kind === 'statement');
    return this.#statement(ran, sources, onResult, loop);
  }

  #statement(
    ran: readonly RanStatement[],
    given: readonly Source[],
    onResult: (name: string) => void,
    loop: string | null,
  ): Produced {
    const [first] = ran as readonly [RanStatement];
    const { shape, place } = first;
    const columns = this.#columnsOf(shape);
    this.titles.add(columns.title);
    const slots = new StatementSlots(shape, columns, this.#options);
    const sources = [...given];
    const values = new Map<Slot, Inferred>();
    const keys: string[] = [];
    const own: Source[] = [];
    // Keys first: by them it is known of which row a column is.
    for (const slot of slots.inOrder()) {
      const observed: Observed = ran.map((each) => each.values[slot]);
      const about = slots.about(slot);
      const argument = (): Value => this.#argument(columns.slots.get(slot)?.column ?? 'value', loop);
      const found = inferValue({ ...about, observed, argument, rowKeys: keys }, sources);
      values.set(slot, found);
      if (about.isKey && !about.isWritten) keys.push(formatValue(found.value));
      const made: Source[] = [
        ...(found.value.kind === 'constant'
          ? []
          : [{ value: found.value, domain: about.domain, observed, rowKeys: [] }]),
        ...(found.shift === null ? [] : [found.shift]),
      ];
      own.push(...made);
      sources.push(...made);
    }
    const isVarying = (slot: Slot): boolean => values.get(slot)?.value.kind !== 'constant';
    const { sql, slots: parameters } = textOfShape(shape, isVarying);
    for (const [at, slot] of parameters.entries()) {
      const { value, basis } = values.get(slot) as Inferred;
      this.inferences.push({ place, sql, parameter: `$${at + 1}`, value, basis });
    }
    const result = this.#unique(columns.relation ?? 'result');
    onResult(result);
    const statement: Statement = {
      kind: 'statement',
      sql,
      parameters: parameters.map((slot) => (values.get(slot) as Inferred).value),
      place,
      result,
    };
    return { steps: [statement], sources: [...own, ...this.#outputs(ran, columns, result, keys)] };
  }

  /** Columns of the first row. */
  #outputs(
    ran: readonly RanStatement[],
    columns: ShapeColumns,
    result: string,
    rowKeys: readonly string[],
  ): readonly Source[] {
    const names = ran[0]?.result.columns ?? [];
    return names.flatMap((column, at): Source[] => {
      // Of two columns with one name, drivers give the last.
      if (names.indexOf(column) !== at) return [];
      const observed: Observed = ran.map((each) => each.result.rows[0]?.[at]);
      const of = columns.outputs.get(column);
      const domain = of === undefined ? null : domainOf(of, this.#options.schema.catalog);
      return [{ value: { kind: 'column', statement: result, column, row: 'first' }, domain, observed, rowKeys }];
    });
  }

  #columnsOf(shape: Shape): ShapeColumns {
    const known = this.#columns.get(shape.key) ?? columnsOfShape(shape, this.#options.schema);
    this.#columns.set(shape.key, known);
    return known;
  }

  #argument(column: string, loop: string | null): Value {
    const name = this.#unique(column);
    return loop === null ? { kind: 'argument', name } : { kind: 'element', loop, field: name };
  }

  #unique(name: string): string {
    let found = name;
    for (let count = 2; this.#names.has(found); count += 1) found = `${name}${count}`;
    this.#names.add(found);
    return found;
  }
}

interface Produced {
  readonly steps: readonly Step[];
  readonly sources: readonly Source[];
}

const nothing: Produced = { steps: [], sources: [] };

/** What the text and the schema say of the values of a statement. */
class StatementSlots {
  readonly #shape: Shape;
  readonly #columns: ShapeColumns;
  readonly #options: FlowOptions;

  constructor(shape: Shape, columns: ShapeColumns, options: FlowOptions) {
    this.#shape = shape;
    this.#columns = columns;
    this.#options = options;
  }

  inOrder(): readonly Slot[] {
    const { parameters, constants } = this.#shape;
    const all = Array.from({ length: parameters + constants.length }, (_, slot) => slot);
    return all.toSorted((a, b) => Number(this.#isKey(b)) - Number(this.#isKey(a)));
  }

  about(slot: Slot): {
    readonly domain: string | null;
    readonly isWritten: boolean;
    readonly isKey: boolean;
    readonly isOwnConstant: boolean;
    readonly isFree: boolean;
  } {
    const column = this.#columns.slots.get(slot);
    const isBound = slot < this.#shape.parameters;
    return {
      domain: column === undefined ? null : domainOf(column, this.#options.schema.catalog),
      isWritten: column?.isWritten === true,
      isKey: column !== undefined && isKeyColumn(column),
      isOwnConstant: !isBound && (this.#options.ownsConstants || this.#shape.parameters > 0),
      isFree: column === undefined || isKeyColumn(column) || hasFreeType(column),
    };
  }

  /** It names rows by a key. */
  #isKey(slot: Slot): boolean {
    const column = this.#columns.slots.get(slot);
    return column !== undefined && !column.isWritten && isKeyColumn(column);
  }
}

function isKeyColumn({ table, column }: ResultColumn): boolean {
  const cell = exactColumn(table, column)?.cell ?? -1;
  return (
    uniqueIndexes(table).some((index) => indexColumns(table, index).includes(column)) ||
    table.foreignKeys.some(({ cells }) => cells.includes(cell))
  );
}

/** Numbers, and texts without a CHECK, which may list them. */
function hasFreeType({ table, column }: ResultColumn): boolean {
  const type = exactColumn(table, column)?.type.name ?? '';
  if (/^(?:int[248]|numeric|float[48])$/.test(type)) return true;
  return (
    /^(?:text|varchar)$/.test(type) &&
    !table.checks.some(({ expression }) => JSON.stringify(expression).includes(`"${column}"`))
  );
}

function inResult(value: Value, result: string): Value {
  if (value.kind === 'expression') return { ...value, operands: value.operands.map((each) => inResult(each, result)) };
  const isOfResult = value.kind === 'row-count' || value.kind === 'column';
  return isOfResult && value.statement === resultOfElement ? { ...value, statement: result } : value;
}

/** Names of results by which nothing is called are left out. */
function withoutUnusedResults(steps: readonly Step[]): readonly Step[] {
  const used = new Set<string>();
  const see = (value: Value): void => {
    if (value.kind === 'column' || value.kind === 'row-count' || value.kind === 'rows') used.add(value.statement);
    if (value.kind === 'expression') value.operands.forEach(see);
  };
  const visit = (all: readonly Step[]): void => {
    for (const step of all) {
      if (step.kind === 'statement') step.parameters.forEach(see);
      if (step.kind === 'branch') see(step.condition);
      if (step.kind === 'loop') see(step.over);
      for (const inner of innerSteps(step)) visit(inner);
    }
  };
  visit(steps);
  return mapStatements(steps, (one) => (one.result !== null && used.has(one.result) ? one : { ...one, result: null }));
}

function innerSteps(step: Step): readonly (readonly Step[])[] {
  if (step.kind === 'branch') return [step.ifTrue, step.ifFalse];
  return step.kind === 'loop' ? [step.steps] : [];
}
