import { accessesConflict, readsWhatIsWritten, type Level } from './access.ts';
import { commonParents, fresh, type Slot, type SlottedTemplate, type Tag, variablesOfSlot } from './slots.ts';
import type { Instance, Split } from './split.ts';

/** An instance of the chain and how it is linked to the one before: both have an access of one row. */
export interface Link {
  readonly instance: Instance;
  readonly arrivedAt: Slot;
  readonly leftAt: Slot | undefined;
  readonly row: Tag;
  readonly before: State | undefined;
}

/** A place from which the chain continues: an instance's access of a row. */
interface State extends Link {
  readonly leftAt: Slot;
  readonly leftRow: Tag;
  readonly isSecondSerializable: boolean;
}

/**
 * What a condition finds is tried first: rows that the split instance does not name, or those that it does. Both find the same sets; the rows of a
 * chain that is found differ, and with them what can run: two inserts of one row fail, two deletes of one row are the anomaly.
 */
export type PreferredRows = 'own rows' | 'shared rows';

/** Of one search. */
export interface SearchLimits {
  /** Instances to try: one is a template with rows for some of its variables, compared with the split instance. */
  readonly stepsMax: number;
  /** Is the time over, or was the tool interrupted? Then it stays so. Default: never. */
  readonly isOver?: () => boolean;
  /** Of all templates of one set together: some 200 bytes each. Default 500,000. */
  readonly accessesMax?: number;
}

/** How many instances a search may still try. */
export class Steps {
  #left: number;
  readonly #isOver: () => boolean;
  #looks = 0;

  constructor({ stepsMax, isOver = () => false }: SearchLimits) {
    this.#left = stepsMax;
    this.#isOver = isOver;
  }

  get areSpent(): boolean {
    this.#look();
    return this.#left <= 0;
  }

  take(): boolean {
    this.#look();
    this.#left -= 1;
    return this.#left >= 0;
  }

  /** At the time, now and then. */
  #look(): void {
    if (this.#looks % looksPerTime === 0 && this.#isOver()) this.#left = 0;
    this.#looks += 1;
  }

  /** What is known already counts as if it were tried again. */
  skip(steps: number): void {
    this.#left -= steps;
  }

  get left(): number {
    return this.#left;
  }
}

const looksPerTime = 64;

/** The accesses of all templates by table, in the order of the templates. */
export class SlotsByTable {
  readonly #slots = new Map<number, TemplateSlot[]>();

  constructor(templates: readonly SlottedTemplate[]) {
    for (const [template, one] of templates.entries())
      for (const [position, slot] of one.slots.entries()) {
        const known = this.#slots.get(slot.table) ?? [];
        known.push({ template, slotted: one, slot, position });
        this.#slots.set(slot.table, known);
      }
  }

  of(table: number): readonly TemplateSlot[] {
    return this.#slots.get(table) ?? [];
  }
}

interface TemplateSlot {
  readonly template: number;
  readonly slotted: SlottedTemplate;
  readonly slot: Slot;
  /** In the template's list. */
  readonly position: number;
}

/** Finds the shortest chain of instances, each in conflict with the next, between the halves of a split instance: breadth first. */
export class ChainSearch {
  readonly #queue: State[] = [];
  readonly #visited = new Set<string>();
  /** The steps that the first arrival took, by slot, row and what else decides: the same arrival again adds nothing. */
  readonly #arrived = new Map<string, number>();

  readonly #split: Split;
  readonly #slots: SlotsByTable;
  readonly #levels: readonly Level[];
  readonly #tags: ReadonlyMap<number, readonly Tag[]>;
  readonly #steps: Steps;
  readonly #preferred: PreferredRows;

  /** @param tags rows of each table that have a number */
  constructor(
    split: Split,
    slots: SlotsByTable,
    levels: readonly Level[],
    tags: ReadonlyMap<number, readonly Tag[]>,
    steps: Steps,
    preferred: PreferredRows,
  ) {
    this.#split = split;
    this.#slots = slots;
    this.#levels = levels;
    this.#tags = tags;
    this.#steps = steps;
    this.#preferred = preferred;
  }

  /** The last link of a chain that makes a cycle with the split instance. `undefined` also where the steps are spent. */
  find(): Link | undefined {
    for (const read of this.#split.oldReads()) {
      const place = this.#split.place(read, this.#split.first);
      if (place === undefined) continue;
      const rows = place === 'all' ? this.#rowsOf(read.table) : [place];
      for (const row of rows) {
        const closed = this.#arrive(read, row, undefined, readsWhatIsWritten);
        if (closed !== undefined) return closed;
      }
    }
    // What is appended meanwhile is visited, too.
    for (const next of this.#queue) {
      const closed = this.#arrive(next.leftAt, next.leftRow, next, accessesConflict);
      if (closed !== undefined) return closed;
    }
    return undefined;
  }

  /** Links every instance that has the relation to an access of a row. Returns one that closes the cycle. */
  #arrive(
    from: Slot,
    row: Tag,
    before: State | undefined,
    relation: (from: Slot['access'], to: Slot['access']) => boolean,
  ): Link | undefined {
    const at = before?.instance ?? this.#split.first;
    const parents = this.#parentsText(from, at);
    for (const { template, slotted, slot, position } of this.#slots.of(from.table)) {
      if (!relation(from.access, slot.access)) continue;
      if (before !== undefined && createsRowOf(from, before.instance.slotted) && createsRowOf(slot, slotted)) continue;
      const key = `${template} ${position} ${row} ${before?.isSecondSerializable}${parents}`;
      const known = this.#arrived.get(key);
      if (known !== undefined) {
        this.#steps.skip(known);
        continue;
      }
      const { left } = this.#steps;
      const level = this.#levels[template] as Level;
      const alone = this.#bound({ template, slotted, level, rows: new Map() }, slot, row);
      const instance = alone === undefined ? undefined : this.#withParentsOf(from, at, slot, alone);
      if (instance !== undefined && this.#mayRun(instance, before)) {
        const link: Link = { instance, arrivedAt: slot, leftAt: undefined, row, before };
        const closed = this.#closed(link, before);
        if (closed !== undefined) return closed;
        this.#leave(link, before);
      }
      this.#arrived.set(key, left - this.#steps.left);
    }
    return undefined;
  }

  #mayRun(instance: Instance, before: State | undefined): boolean {
    return (
      this.#steps.take() &&
      this.#split.admits(instance) &&
      (before !== undefined || this.#split.admitsAsSecond(instance))
    );
  }

  /** As it is, or with one more of its rows the same as one that has a number. */
  #closed(link: Link, before: State | undefined): Link | undefined {
    for (const instance of [link.instance, ...this.#withOneMore(link.instance)]) {
      const isSecondSerializable = before === undefined ? instance.level === 'SSI' : before.isSecondSerializable;
      if (this.#mayRun(instance, before) && this.#split.closesWith(instance, isSecondSerializable)) {
        return { ...link, instance };
      }
    }
    return undefined;
  }

  *#withOneMore(instance: Instance): Generator<Instance> {
    const tagsOf = (table: number): readonly Tag[] => [fresh, ...(this.#tags.get(table) ?? [])];
    for (const slot of instance.slotted.slots) {
      const open = variablesOfSlot(slot).filter(([variable]) => !instance.rows.has(variable));
      for (const bound of bindings(open, instance, tagsOf)) {
        if (open.some(([variable]) => bound.rows.get(variable) !== fresh)) yield bound;
      }
    }
  }

  /** Queues every access of the instance from which the chain may continue. Those between the second and the last do not conflict with the split one. */
  #leave(link: Link, before: State | undefined): void {
    for (const [position, slot] of link.instance.slotted.slots.entries()) {
      for (const { instance, row: leftRow } of this.#leaving(slot, link.instance)) {
        const isSecondSerializable = before === undefined ? instance.level === 'SSI' : before.isSecondSerializable;
        const key = `${instance.template} ${position} ${leftRow} ${isSecondSerializable}${this.#parentsText(slot, instance)}`;
        if (this.#visited.has(key)) {
          this.#steps.skip(1);
          continue;
        }
        if (!this.#mayRun(instance, before)) continue;
        if (before !== undefined && this.#split.conflictsWith(instance)) continue;
        this.#visited.add(key);
        this.#queue.push({ ...link, instance, leftAt: slot, leftRow, isSecondSerializable });
      }
    }
  }

  /** The instance with rows for all variables of the slot, and each row at which the slot then is. */
  *#leaving(slot: Slot, of: Instance): Generator<{ readonly instance: Instance; readonly row: Tag }> {
    for (const instance of bindings(variablesOfSlot(slot), of, (table) => this.#rowsOf(table))) {
      const place = this.#split.place(slot, instance);
      for (const row of place === 'all' ? this.#rowsOf(slot.table) : [place as Tag]) yield { instance, row };
    }
  }

  /** What decides, beside the row, with which accesses one at the slot conflicts. */
  #parentsText({ parents }: Slot, instance: Instance): string {
    return parents.map((one) => ` ${one.reference}:${this.#split.place(one, instance)}`).join('');
  }

  /** The instance with its slot under the same parents as the other slot, as far as both refer by one column. */
  #withParentsOf(from: Slot, at: Instance, slot: Slot, instance: Instance): Instance | undefined {
    let bound = instance;
    for (const [own, parent] of commonParents(slot, from)) {
      const row = this.#split.place(parent, at) as Tag;
      const next = this.#bound(bound, own, row);
      if (next === undefined) return undefined;
      bound = next;
    }
    return bound;
  }

  #rowsOf(table: number): readonly Tag[] {
    const shared = this.#tags.get(table) ?? [];
    return this.#preferred === 'own rows' ? [fresh, ...shared] : [...shared, fresh];
  }

  /** Is the row of the slot still to be chosen? */
  #isOpen({ target }: Pick<Slot, 'target'>, { rows }: Instance): boolean {
    return (target.kind === 'variable' || target.kind === 'found') && !rows.has(target.variable);
  }

  /** The instance with the slot at a row; `undefined` where it is at another. */
  #bound(instance: Instance, slot: Pick<Slot, 'table' | 'target'>, row: Tag): Instance | undefined {
    if (this.#isOpen(slot, instance)) {
      const { variable } = slot.target as { variable: number };
      return { ...instance, rows: new Map(instance.rows).set(variable, row) };
    }
    const place = this.#split.place(slot, instance);
    return place === 'all' || place === row ? instance : undefined;
  }
}

/** Every way to give a row to each of the variables that has none. */
function* bindings(
  variables: readonly (readonly [variable: number, table: number])[],
  instance: Instance,
  rowsOf: (table: number) => readonly Tag[],
): Generator<Instance> {
  const [next, ...rest] = variables.filter(([variable]) => !instance.rows.has(variable));
  if (next === undefined) {
    yield instance;
    return;
  }
  const [variable, table] = next;
  for (const row of rowsOf(table))
    yield* bindings(rest, { ...instance, rows: new Map(instance.rows).set(variable, row) }, rowsOf);
}

/** Does the template make the row of the slot? Of two that are linked by it, one would fail. */
function createsRowOf({ table, target }: Slot, { slots }: SlottedTemplate): boolean {
  return slots.some(
    (other) => other.access.creates === true && other.table === table && isSameTarget(other.target, target),
  );
}

function isSameTarget(a: Slot['target'], b: Slot['target']): boolean {
  if (a.kind === 'variable') return b.kind === 'variable' && a.variable === b.variable;
  return a.kind === 'constant' && b.kind === 'constant' && a.constant === b.constant;
}
