import type { Level } from './access.ts';
import { ChainSearch, type Link, type PreferredRows, type SearchLimits, SlotsByTable, Steps } from './chain-search.ts';
import { constantTags, rowsOfFirst } from './rows-of-first.ts';
import { commonParents, fresh, slotted, type Slot, type Tag, variablesOfSlot } from './slots.ts';
import { Split, type Instance } from './split.ts';
import type { Allocation, Template } from './templates.ts';

/** Why a set of templates is not robust: an instance that is split, and instances that run between its halves, one after another. */
export interface TemplateSplit {
  readonly first: InstanceRows;
  /** The last statement of the first half. */
  readonly after: number;
  readonly between: readonly InstanceRows[];
  /** Numbers of the rows that constants name: by table, then constant. */
  readonly constants: ReadonlyMap<number, ReadonlyMap<number, number>>;
}

/** An instance with rows by number: in one table, equal numbers are one row. */
export interface InstanceRows {
  readonly template: number;
  /** By variable. A variable that is not here is a row that only this instance names. */
  readonly variables: ReadonlyMap<number, number>;
  /** Rows that conditions find and write or lock. */
  readonly found: readonly FoundRow[];
}

export interface FoundRow {
  readonly statement: number;
  readonly table: number;
  readonly row: number;
}

/** The search ended before it found a split or had looked at all: nothing is known. */
export const stepLimit = 'step-limit';

/** A second of one core or less. */
export const stepsMaxDefault = 200_000;

const limitsDefault: SearchLimits = { stepsMax: stepsMaxDefault };

/**
 * Is every set of instances of the templates serializable in every schedule that their levels allow? `undefined` is yes: they are robust.
 *
 * After research on robustness for transaction templates and on allocating levels (Vandevoort, Ketsman, Koch, Neven, PVLDB 2021 and PODS 2023),
 * recalled, not read. Conditions and locks are ours: a condition is taken to read all rows and to write any. What it rests on is the test: it
 * compares with the concrete algorithm on all instances over a few rows, and proves each counterexample.
 * Complexity: polynomial, but for the ways in which variables of one template may be one row (a Bell number of a table's variables).
 */
export function findTemplateSplit(
  templates: readonly Template[],
  levels: Allocation,
  limits = limitsDefault,
): TemplateSplit | typeof stepLimit | undefined {
  const steps = new Steps(limits);
  // Before the rows of all templates are counted, which takes time, too.
  if (steps.areSpent) return stepLimit;
  for (const search of searches(templates, levels)) {
    const found = search.find(steps, 'own rows');
    if (found !== undefined) return found;
    if (steps.areSpent) return stepLimit;
  }
  return undefined;
}

/** Other splits of a set that is not robust: after each statement of each template, with rows of their own and with shared ones. Not all there are. */
export function* templateSplits(
  templates: readonly Template[],
  levels: Allocation,
  limits = limitsDefault,
): Generator<TemplateSplit> {
  const steps = new Steps(limits);
  const found = new Set<string>();
  for (const preferred of ['own rows', 'shared rows'] as const)
    for (const search of searches(templates, levels)) {
      const place = `${preferred} ${search.template} ${search.after}`;
      if (found.has(place)) continue;
      const split = search.find(steps, preferred);
      if (steps.areSpent) return;
      if (split === undefined) continue;
      found.add(place);
      yield split;
    }
}

interface Search {
  /** Of the first instance. */
  readonly template: number;
  readonly after: number;
  readonly find: (steps: Steps, preferred: PreferredRows) => TemplateSplit | undefined;
}

/** For each place at which an instance may be split, and each way in which its rows may be one. */
function* searches(templates: readonly Template[], levels: Allocation): Generator<Search> {
  // Where all are serializable, so is every schedule: that is what the level says.
  if (levels.every((level) => level === 'SSI')) return;
  const all = templates.map(slotted);
  const slots = new SlotsByTable(all);
  const constants = constantTags(all);
  const constantTag = (table: number, constant: number): Tag => constants.get(table)?.get(constant) ?? fresh;
  for (const [template, one] of all.entries()) {
    const level = levels[template] as Level;
    // A snapshot is taken with the first statement: to split later would only hold more locks.
    const statements = level === 'RC' ? one.template.statements : one.template.statements.slice(0, 1);
    for (const { rows, tags } of rowsOfFirst(one, constants)) {
      const first: Instance = { template, slotted: one, level, rows };
      for (const after of statements.keys()) {
        const find: Search['find'] = (steps, preferred) => {
          const split = new Split(first, after, constantTag);
          const last = new ChainSearch(split, slots, levels, tags, steps, preferred).find();
          if (last === undefined) return undefined;
          return { after, constants, ...numbered(first, last, [...tags.values()].flat().length) };
        };
        yield { template, after, find };
      }
    }
  }
}

/** Gives each row that neighbours of the chain share, and no other names, a number of its own. */
function numbered(first: Instance, last: Link, rowsNumbered: number): Pick<TemplateSplit, 'first' | 'between'> {
  const links: Link[] = [];
  for (let link: Link | undefined = last; link !== undefined; link = link.before) links.unshift(link);
  const numbers = new SharedNumbers(rowsNumbered);
  for (const [at, { arrivedAt, before }] of links.entries()) {
    if (before === undefined) continue;
    const pairs = [[before.leftAt, arrivedAt] as const, ...commonParents(before.leftAt, arrivedAt)];
    for (const [one, other] of pairs) {
      const [left, arrived] = [variableOf(one), variableOf(other)];
      if (left !== undefined && arrived !== undefined) numbers.share(`${at - 1} ${left}`, `${at} ${arrived}`);
    }
  }
  const between = links.map(({ instance }, at) =>
    instanceRows(instance, (variable, tag) => (tag === fresh ? numbers.of(`${at} ${variable}`) : tag)),
  );
  return { first: instanceRows(first, (_, tag) => tag), between };
}

/** Numbers of rows by what names them, where several names may be of one row. */
class SharedNumbers {
  readonly #same = new Map<string, string>();
  readonly #numbers = new Map<string, number>();
  #count: number;

  /** @param count the first number */
  constructor(count: number) {
    this.#count = count;
  }

  share(a: string, b: string): void {
    const [one, other] = [this.#root(a), this.#root(b)];
    if (one !== other) this.#same.set(other, one);
  }

  of(name: string): number {
    const root = this.#root(name);
    const number = this.#numbers.get(root) ?? this.#count++;
    this.#numbers.set(root, number);
    return number;
  }

  #root(name: string): string {
    const same = this.#same.get(name);
    return same === undefined ? name : this.#root(same);
  }
}

function variableOf({ target }: Pick<Slot, 'target'>): number | undefined {
  return target.kind === 'variable' || target.kind === 'found' ? target.variable : undefined;
}

function instanceRows(
  { template, slotted: { slots }, rows }: Instance,
  number: (variable: number, tag: Tag) => number,
): InstanceRows {
  const variables = new Map<number, number>();
  const found: FoundRow[] = [];
  for (const slot of slots) {
    for (const [variable] of variablesOfSlot(slot)) {
      const tag = rows.get(variable);
      if (tag === undefined) continue;
      const row = number(variable, tag);
      if (slot.target.kind === 'found' && slot.target.variable === variable)
        found.push({ statement: slot.statement, table: slot.table, row });
      else variables.set(variable, row);
    }
  }
  return { template, variables, found };
}
