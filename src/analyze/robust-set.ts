/** A set of transactions as the robustness algorithms see it: which levels make it serializable, and which of them go wrong together. */
import { assert } from '../base/index.ts';
import type { IsolationName } from '../sql/index.ts';
import type { Dialect } from './application.ts';
import { type EngineLevels, levelsOf, type LevelRule } from './levels.ts';
import {
  findTemplateSplit,
  stepLimit,
  stepsMaxDefault,
  type TemplateSplit,
  templateSplits,
} from './robustness/find-split.ts';
import { type PathTemplate, type RowRules, templatesOf } from './templates.ts';
import type { AnalyzedTransaction } from './transactions.ts';

/** A schedule that no serial order explains, as the algorithm sees it. */
export interface Witness {
  readonly kind: 'witness';
  readonly split: TemplateSplit;
  /** Of which `split` numbers one for each instance. */
  readonly templates: readonly PathTemplate[];
  /** The transactions that take part, by number, each once. */
  readonly transactions: readonly number[];
}

/** The search for a witness of these transactions ended at its limit: whether there is one is not known. */
export interface CutSearch {
  readonly kind: 'cut';
  readonly transactions: readonly number[];
  readonly steps: number;
}

export class RobustSet {
  readonly #templates: readonly PathTemplate[];
  /** Transactions of which not every variant is followed. */
  readonly cut: readonly number[];
  readonly #count: number;
  readonly #levels: EngineLevels;
  readonly #stepsMax: number;

  /**
   * @param stepsMax of one search
   * @param inserted as of `templatesOf`, where these are not all transactions of the application
   */
  constructor(
    transactions: readonly AnalyzedTransaction[],
    dialect: Dialect,
    stepsMax = stepsMaxDefault,
    inserted?: ReadonlySet<number>,
  ) {
    this.#stepsMax = stepsMax;
    this.#levels = levelsOf[dialect];
    const { all, cut } = templatesOf(transactions, rowRules[dialect], inserted);
    this.#templates = all;
    this.cut = cut;
    this.#count = transactions.length;
  }

  /** @returns levels by transaction; those without statements have the weakest */
  weakest(): readonly IsolationName[] {
    const programOf = this.#templates.map(({ transaction }) => transaction);
    const levels = this.#levels.weakest({
      templates: this.#templates.map(({ templates }) => templates['by statement']),
      programOf,
      count: this.#count,
      isRobust: (candidate) => this.isRobust(candidate),
    });
    const [weakest, strongest] = [this.#levels.names[0], this.#levels.names.at(-1)] as [IsolationName, IsolationName];
    const taking = new Set(programOf);
    return range(this.#count).map((at) => (taking.has(at) ? (levels[at] ?? strongest) : weakest));
  }

  /** Is it proven? @param levels by transaction */
  isRobust(levels: readonly IsolationName[]): boolean {
    return this.#witness(levels, range(this.#count)) === undefined;
  }

  /**
   * For each smallest set of transactions that is not proven robust at these levels, one witness or where its search ended: those of one transaction first,
   * then two, then three. Where only a larger set is not robust, one of all. O(n^3) tests of robustness
   */
  witnesses(levels: readonly IsolationName[]): readonly (Witness | CutSearch)[] {
    const found: (Witness | CutSearch)[] = [];
    const sets: (readonly number[])[] = [];
    for (const set of connectedSets(this.#count, this.#sharesTables())) {
      if (sets.some((smaller) => smaller.every((one) => set.includes(one)))) continue;
      const witness = this.#witness(levels, set);
      if (witness === undefined) continue;
      sets.push(set);
      found.push(witness);
    }
    const whole = found.length === 0 ? this.#witness(levels, range(this.#count)) : undefined;
    return whole === undefined ? found : [whole];
  }

  /** Other witnesses of the transactions of one, which need other rows. */
  *others(levels: readonly IsolationName[], { transactions }: Witness): Generator<Witness> {
    const { templates, search } = this.#search(levels, transactions);
    for (const split of templateSplits(...search)) yield witnessOf(split, templates);
  }

  #witness(levels: readonly IsolationName[], set: readonly number[]): Witness | CutSearch | undefined {
    const { templates, search } = this.#search(levels, set);
    const split = findTemplateSplit(...search);
    if (split === undefined) return undefined;
    if (split === stepLimit) return { kind: 'cut', transactions: set, steps: this.#stepsMax };
    return witnessOf(split, templates);
  }

  #search(
    levels: readonly IsolationName[],
    set: readonly number[],
  ): { readonly templates: readonly PathTemplate[]; readonly search: Parameters<typeof templateSplits> } {
    const templates = this.#templates.filter(({ transaction }) => set.includes(transaction));
    const rules = templates.map(({ transaction }) => this.#ruleOf(levels[transaction]));
    const asRead = templates.map((one, at) => one.templates[rules[at]?.reads ?? 'by statement']);
    return { templates, search: [asRead, rules.map(({ level }) => level), this.#stepsMax] };
  }

  /** A cycle of conflicts goes through all of its transactions: those without a table in common have none. */
  #sharesTables(): (a: number, b: number) => boolean {
    const tables = range(this.#count).map(() => new Set<number>());
    for (const { templates, transaction } of this.#templates)
      for (const { table } of templates['by statement'].statements.flat(2)) tables[transaction]?.add(table);
    const shared = tables.map((own) => tables.map((other) => [...own].some((table) => other.has(table))));
    return (a, b) => shared[a]?.[b] === true;
  }

  #ruleOf(level: IsolationName | undefined): LevelRule {
    const rule = level === undefined ? null : this.#levels.rules[level];
    assert(rule !== null, `a transaction at ${level} is not analyzed`);
    return rule;
  }
}

function witnessOf(split: TemplateSplit, templates: readonly PathTemplate[]): Witness {
  const instances = [split.first, ...split.between];
  const taking = instances.map(({ template }) => (templates[template] as PathTemplate).transaction);
  return { kind: 'witness', split, templates, transactions: [...new Set(taking)] };
}

export const rowRules: Readonly<Record<Dialect, RowRules>> = {
  postgres: { isDistinct: () => true, replacesRows: true },
  // Text is compared by its collation: 'a' and 'A' may name one row.
  mysql: { isDistinct: (value) => typeof value === 'number', replacesRows: false },
};

function range(count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => index);
}

/** The smaller ones first; those of two or three only where enough of their pairs are joined to connect them. O(n^2 + connected sets) */
function* connectedSets(count: number, areJoined: (a: number, b: number) => boolean): Iterable<readonly number[]> {
  const all = range(count);
  const joined = all.map((a) => all.filter((b) => b !== a && areJoined(a, b)));
  const after = (from: number, which: readonly number[] = []): readonly number[] => which.filter((each) => each > from);
  for (const a of all) yield [a];
  for (const a of all) for (const b of after(a, joined[a])) yield [a, b];
  for (const a of all) {
    const ofA = new Set(after(a, joined[a]));
    for (const b of after(a, all)) {
      const ofB = after(b, joined[b]);
      const thirds = ofA.has(b) ? new Set([...after(b, [...ofA]), ...ofB]) : ofB.filter((each) => ofA.has(each));
      for (const c of [...thirds].toSorted((one, other) => one - other)) yield [a, b, c];
    }
  }
}
