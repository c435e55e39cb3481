/** A set of transactions as the robustness algorithms see it: which levels make it serializable, and which of them go wrong together. */
import { assert } from '../base/index.ts';
import type { IsolationName } from '../sql/index.ts';
import type { Dialect } from './application.ts';
import { SharedTables } from './connected-sets.ts';
import { type EngineLevels, levelsOf, type LevelRule } from './levels.ts';
import type { SearchLimits } from './robustness/chain-search.ts';
import {
  findTemplateSplit,
  stepLimit,
  stepsMaxDefault,
  type TemplateSplit,
  templateSplits,
} from './robustness/find-split.ts';
import { type KnownTemplates, type PathTemplate, type RowChanges, type RowRules, templatesOf } from './templates.ts';
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

export interface FoundWitnesses {
  readonly found: readonly (Witness | CutSearch)[];
  /** Transactions of which not every set was searched: the time was over. */
  readonly unsearched: readonly number[];
}

/** By transaction. */
type LevelOf = (transaction: number) => IsolationName | undefined;

export class RobustSet {
  readonly #templates: ReadonlyMap<number, readonly PathTemplate[]>;
  readonly #shared: SharedTables;
  /** Transactions of which not every variant is followed. */
  readonly cut: readonly number[];
  readonly #count: number;
  /** May templates be missing, because the time was over? */
  readonly #isPartial: boolean;
  readonly #levels: EngineLevels;
  readonly #limits: SearchLimits;

  /**
   * @param limits of one search
   * @param changes as of `templatesOf`
   * @param known as of `templatesOf`
   */
  constructor(
    transactions: readonly AnalyzedTransaction[],
    dialect: Dialect,
    limits: SearchLimits = { stepsMax: stepsMaxDefault },
    changes?: RowChanges,
    known?: KnownTemplates,
  ) {
    this.#limits = limits;
    this.#levels = levelsOf[dialect];
    const { all, cut } = templatesOf(transactions, rowRules[dialect], limits, changes, known);
    const byTransaction = new Map(transactions.map((_, at): [number, PathTemplate[]] => [at, []]));
    for (const one of all) byTransaction.get(one.transaction)?.push(one);
    this.#templates = byTransaction;
    this.#shared = new SharedTables([...byTransaction.values()].map(tablesIn));
    this.cut = cut;
    this.#count = transactions.length;
    this.#isPartial = this.#isOver;
  }

  /** Is the time over? Then nothing is proven. */
  get #isOver(): boolean {
    return this.#limits.isOver?.() === true;
  }

  /**
   * @param limits of one search
   * @returns levels by transaction; those without statements have the weakest; `null`: the time was over before it was known
   */
  weakest(limits = this.#limits): readonly (IsolationName | null)[] {
    if (this.#isPartial) return range(this.#count).map(() => null);
    const [weakest, strongest] = [this.#levels.names[0], this.#levels.names.at(-1)] as [IsolationName, IsolationName];
    const found = new Map<number, IsolationName | null>();
    for (const component of this.#shared.components) {
      const templates = this.#templatesOf(component);
      if (templates.length === 0) continue;
      const placeOf = new Map(component.map((transaction, place) => [transaction, place] as const));
      const levels = this.#levels.weakest({
        templates: templates.map((one) => one.templates['by statement']),
        programOf: templates.map(({ transaction }) => placeOf.get(transaction) ?? -1),
        count: component.length,
        limits,
        isRobust: (candidate) =>
          this.#witness((one) => candidate[placeOf.get(one) ?? -1], component, limits) === undefined,
      });
      const isKnown = limits.isOver?.() !== true;
      for (const [place, transaction] of component.entries())
        found.set(transaction, isKnown ? (levels[place] ?? strongest) : null);
    }
    return range(this.#count).map((at) => {
      const level = found.get(at);
      return level === undefined ? weakest : level;
    });
  }

  /** Is it proven? @param levels by transaction */
  isRobust(levels: readonly IsolationName[]): boolean {
    if (this.#isPartial) return false;
    return this.#shared.components.every((component) => this.#witness((at) => levels[at], component) === undefined);
  }

  /**
   * For each smallest set of transactions that is not proven robust at these levels, one witness or where its search ended: those of one transaction first,
   * then two, then three. Where only a larger set is not robust, one of all. O(n^3) tests of robustness, n the largest number of transactions that tables join
   */
  witnesses(levels: readonly IsolationName[]): FoundWitnesses {
    const levelOf: LevelOf = (at) => levels[at];
    const found: (Witness | CutSearch)[] = [];
    /** By their first transactions. */
    const smaller = new Map<number, (readonly number[])[]>();
    for (const set of this.#shared.sets()) {
      const inside = set.flatMap((first) => smaller.get(first) ?? []);
      if (inside.some((one) => one.every((each) => set.includes(each)))) continue;
      const witness = this.#witness(levelOf, set);
      if (this.#isOver && witness?.kind !== 'witness') return { found, unsearched: this.#from(set) };
      if (witness === undefined) continue;
      const [first = -1] = set;
      smaller.set(first, [...(smaller.get(first) ?? []), set]);
      found.push(witness);
    }
    if (found.length > 0) return { found, unsearched: [] };
    for (const component of this.#shared.components) {
      const witness = this.#witness(levelOf, component);
      if (this.#isOver && witness?.kind !== 'witness') return { found, unsearched: component };
      if (witness !== undefined) return { found: [witness], unsearched: [] };
    }
    return { found, unsearched: [] };
  }

  /** Those that take part in a set which is not before this one. */
  #from([first = 0, second]: readonly number[]): readonly number[] {
    const joined = this.#shared.components.filter(({ length }) => length > 1).flat();
    return second === undefined ? [...new Set([...joined, ...range(this.#count).slice(first)])] : joined;
  }

  /** Other witnesses of the transactions of one, which need other rows. */
  *others(levels: readonly IsolationName[], { transactions }: Witness): Generator<Witness> {
    const { templates, search } = this.#search((at) => levels[at], transactions);
    for (const split of templateSplits(...search)) yield witnessOf(split, templates);
  }

  #witness(levelOf: LevelOf, set: readonly number[], limits = this.#limits): Witness | CutSearch | undefined {
    const { templates, search } = this.#search(levelOf, set, limits);
    const split = findTemplateSplit(...search);
    if (split === undefined) return undefined;
    if (split === stepLimit) return { kind: 'cut', transactions: set, steps: limits.stepsMax };
    return witnessOf(split, templates);
  }

  #search(
    levelOf: LevelOf,
    set: readonly number[],
    limits = this.#limits,
  ): { readonly templates: readonly PathTemplate[]; readonly search: Parameters<typeof templateSplits> } {
    const templates = this.#templatesOf(set);
    const rules = templates.map(({ transaction }) => this.#ruleOf(levelOf(transaction)));
    const asRead = templates.map((one, at) => one.templates[rules[at]?.reads ?? 'by statement']);
    return { templates, search: [asRead, rules.map(({ level }) => level), limits] };
  }

  /** In the order of the transactions. */
  #templatesOf(set: readonly number[]): readonly PathTemplate[] {
    return set.toSorted((a, b) => a - b).flatMap((transaction) => this.#templates.get(transaction) ?? []);
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
  postgres: { replacesRows: true, keepsLocks: true },
  mysql: { replacesRows: false, keepsLocks: true },
};

function tablesIn(templates: readonly PathTemplate[]): ReadonlySet<number> {
  const accesses = templates.flatMap((one) => one.templates['by statement'].statements.flat(2));
  return new Set(accesses.map(({ table }) => table));
}

function range(count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => index);
}
