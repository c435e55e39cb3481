import { accessesConflict, exclude, readsWhatIsWritten, type Level } from './access.ts';
import { commonParents, fresh, type Slot, type SlotParent, type SlottedTemplate, type Tag } from './slots.ts';

/** One template with rows for some of its variables; a variable that is not bound is a row that no other instance names. */
export interface Instance {
  readonly template: number;
  readonly slotted: SlottedTemplate;
  readonly level: Level;
  readonly rows: ReadonlyMap<number, Tag>;
}

/** Where a slot of an instance is: at a row, at every row of its table, or nowhere (a row that a condition did not find). */
export type Place = Tag | 'all' | undefined;

/** The row that a constant of the program names. */
export type ConstantTag = (table: number, constant: number) => Tag;

/** The instance that is split, and what may run between its halves: `runsInside` of the concrete algorithm, for instances with unknown rows. */
export class Split {
  readonly first: Instance;
  /** The last statement of the first half. */
  readonly after: number;
  readonly #constantTag: ConstantTag;

  constructor(first: Instance, after: number, constantTag: ConstantTag) {
    this.first = first;
    this.after = after;
    this.#constantTag = constantTag;
  }

  place({ table, target }: Pick<Slot, 'table' | 'target'>, { rows }: Instance): Place {
    switch (target.kind) {
      case 'all':
        return 'all';
      case 'constant':
        return this.#constantTag(table, target.constant);
      case 'variable':
        return rows.get(target.variable) ?? fresh;
      case 'found':
        return rows.get(target.variable);
    }
  }

  /** What the first half read before it may be overwritten: in its last statement, or by its snapshot. */
  oldReads(): readonly Slot[] {
    const { slotted, level } = this.first;
    const { unlocked } = slotted.template;
    return slotted.slots.filter(
      ({ statement, access }) =>
        access.reads !== 0 &&
        (level !== 'RC' || statement === this.after) &&
        (unlocked === undefined || unlocked.has(statement)),
    );
  }

  /** No statement of the instance waits for the first half, and the second half is not refused because of it, nor because of a row that both make. */
  admits(inside: Instance): boolean {
    return !this.#somePair(
      inside,
      (slot, own) =>
        ((own.statement <= this.after || this.first.level !== 'RC') &&
          exclude(slot.access, inside.level, own.access, this.first.level)) ||
        (slot.access.creates === true && own.access.creates === true),
    );
  }

  /** Does what the split instance does matter to the other, or the other way round? */
  conflictsWith(inside: Instance): boolean {
    return this.#somePair(inside, (slot, own) => accessesConflict(slot.access, own.access));
  }

  /** SERIALIZABLE refuses an instance that the split one reads before, and that reads before what the split one writes. */
  admitsAsSecond(second: Instance): boolean {
    return !(this.#areSerializable(second) && this.#isReadBy(second));
  }

  /** The split instance depends on the last one, which closes the cycle. `false` also where SERIALIZABLE refuses it. */
  closesWith(last: Instance, isSecondSerializable: boolean): boolean {
    if (this.#areSerializable(last)) {
      if (isSecondSerializable) return false;
      if (this.#somePair(last, (slot, own) => readsWhatIsWritten(own.access, slot.access))) return false;
    }
    if (this.#isReadBy(last)) return true;
    if (this.first.level !== 'RC') return false;
    return this.#somePair(last, (slot, own) => own.statement > this.after && accessesConflict(slot.access, own.access));
  }

  #areSerializable(other: Instance): boolean {
    return this.first.level === 'SSI' && other.level === 'SSI';
  }

  #isReadBy(inside: Instance): boolean {
    return this.#somePair(inside, (slot, own) => readsWhatIsWritten(slot.access, own.access));
  }

  /** Is there a slot of the other instance and one of the split one at the same row, with the relation? */
  #somePair(inside: Instance, relation: (slot: Slot, own: Slot) => boolean): boolean {
    return inside.slotted.slots.some((slot) => {
      const place = this.place(slot, inside);
      if (place === undefined) return false;
      return this.first.slotted.slots.some((own) => {
        if (own.table !== slot.table || !relation(slot, own)) return false;
        const ownPlace = this.place(own, this.first);
        if (ownPlace === undefined || !meet(place, ownPlace)) return false;
        return commonParents(slot, own).every(([parent, other]) => this.#areOne(this.place(parent, inside), other));
      });
    });
  }

  /** Is the row that of the split instance's slot? */
  #areOne(place: Place, own: SlotParent): boolean {
    return place !== fresh && place === this.place(own, this.first);
  }
}

function meet(a: Tag | 'all', b: Tag | 'all'): boolean {
  return a === 'all' || b === 'all' || (a === b && a !== fresh);
}
