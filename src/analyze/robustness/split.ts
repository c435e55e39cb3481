import { accessesConflict, fitsInside, readsWhatIsWritten, type Level } from './access.ts';
import { fresh, type Slot, type SlottedTemplate, type Tag } from './slots.ts';

/** Rows of an instance's variables; a variable that is not bound is a row that only this instance names. */
export type Bindings = ReadonlyMap<number, Tag>;

/** One template with rows for some of its variables. */
export interface Instance {
  readonly template: number;
  readonly slotted: SlottedTemplate;
  readonly level: Level;
  readonly bindings: Bindings;
}

/** Where a slot of an instance is: a row, every row of the table, or nowhere (a row that a condition did not find). */
export type Place = Tag | 'all' | undefined;

/** A row that a constant of the program names. */
export type ConstantTag = (table: number, constant: number) => Tag;

/** The instance that is split, and what may run between its two halves. */
export class Split {
  /** @param after the last statement of its first half */
  constructor(
    readonly first: Instance,
    readonly after: number,
    readonly constantTag: ConstantTag,
  ) {}

  place(slot: Slot, bindings: Bindings): Place {
    switch (slot.target.kind) {
      case 'all':
        return 'all';
      case 'constant':
        return this.constantTag(slot.table, slot.target.constant);
      case 'variable':
        return bindings.get(slot.target.variable) ?? fresh;
      case 'found':
        return bindings.get(slot.target.variable);
    }
  }

  /** No statement of the instance waits for the first half, and the second half is not refused because of it. */
  admits(inside: Instance): boolean {
    const { level } = this.first;
    return !this.somePair(inside, (a, own) => !fitsInside(a.access, own.access, own.statement <= this.after, level));
  }

  conflictsWith(inside: Instance): boolean {
    return this.somePair(inside, (a, own) => accessesConflict(a.access, own.access));
  }

  /** SERIALIZABLE refuses: the instance that the first half reads before reads, in turn, what the split one writes. */
  admitsAsSecond(second: Instance): boolean {
    return !(this.isSerializable(second) && this.isReadBy(second));
  }

  /** The split instance depends on the last one: a cycle, as it came before the second. `false` also where SERIALIZABLE refuses it. */
  closesWith(last: Instance, isSecondSerializable: boolean): boolean {
    if (this.isSerializable(last)) {
      if (isSecondSerializable) return false;
      if (this.somePair(last, (a, own) => readsWhatIsWritten(own.access, a.access))) return false;
    }
    if (this.isReadBy(last)) return true;
    if (this.first.level !== 'RC') return false;
    return this.somePair(last, (a, own) => own.statement > this.after && accessesConflict(a.access, own.access));
  }

  /** Slots of the statement after which it is split: what it read there, others may write. */
  lastRead(): readonly Slot[] {
    return this.first.slotted.slots.filter(({ statement, access }) => statement === this.after && access.reads !== 0);
  }

  private isSerializable(other: Instance): boolean {
    return this.first.level === 'SSI' && other.level === 'SSI';
  }

  private isReadBy(inside: Instance): boolean {
    return this.somePair(inside, (a, own) => readsWhatIsWritten(a.access, own.access));
  }

  /** Is there a pair of slots that are at one row, one of the other instance and one of the split one, with the relation? */
  private somePair(inside: Instance, relation: (inside: Slot, own: Slot) => boolean): boolean {
    return inside.slotted.slots.some((slot) => {
      const place = this.place(slot, inside.bindings);
      if (place === undefined) return false;
      return this.first.slotted.slots.some((own) => {
        if (own.table !== slot.table || !relation(slot, own)) return false;
        const ownPlace = this.place(own, this.first.bindings);
        return ownPlace !== undefined && meet(place, ownPlace);
      });
    });
  }
}

function meet(a: Tag | 'all', b: Tag | 'all'): boolean {
  return a === 'all' || b === 'all' || (a === b && a !== fresh);
}
