/**
 * Where each variable lives in the words of a state. Everything that is indexed by a member of a set (its process's variables,
 * messages whose first set it is) lies in that member's block, so that renaming members moves whole blocks. A cell never
 * straddles two words, and cells that a renaming changes lie side by side: symmetry renames many of them by one table.
 */
import { InputError } from '../base/index.ts';
import type { Cell } from './kind.ts';
import type { NamedSet } from './named-set.ts';

/** A cell of a variable before it has a place. */
export interface CellOwner {
  /** The set whose members each have the variable, or `null`. */
  readonly set: NamedSet | null;
  readonly cells: readonly Cell[];
}

/** Relative to the member's block. */
export interface Place {
  readonly word: number;
  readonly shift: number;
  readonly bits: number;
}

export interface PlacedCell extends Place {
  readonly cell: Cell;
  /** The places of all cells of the same variable, which `indexedBy` refers to. */
  readonly variable: readonly Place[];
  readonly index: number;
}

export interface Block {
  readonly set: NamedSet | null;
  readonly base: number;
  /** Words for each member. */
  readonly stride: number;
  readonly cells: readonly PlacedCell[];
}

export interface Layout {
  readonly words: number;
  readonly blocks: readonly Block[];
  /** For each owner, its block and the places of its cells. */
  readonly owners: readonly { readonly block: Block; readonly places: readonly Place[] }[];
}

const wordsMax = 256;

export function layOut(owners: readonly CellOwner[]): Layout {
  const sets = [...new Set(owners.map(({ set }) => set))];
  let base = 0;
  const blocks = sets.map((set): Block & { readonly of: ReadonlyMap<CellOwner, Place[]> } => {
    const packed = pack(owners.filter((owner) => owner.set === set));
    const block = { set, base, ...packed };
    base += block.stride * (set?.size ?? 1);
    return block;
  });
  if (base > wordsMax)
    throw new InputError('protocol/size', `a state needs ${base * 4} bytes; at most ${wordsMax * 4}`);
  return {
    words: base,
    blocks,
    owners: owners.map((owner) => {
      const block = blocks[sets.indexOf(owner.set)];
      return { block, places: block.of.get(owner) as Place[] };
    }),
  };
}

function pack(owners: readonly CellOwner[]): Pick<Block, 'stride' | 'cells'> & { of: ReadonlyMap<CellOwner, Place[]> } {
  const of = new Map(owners.map((owner): [CellOwner, Place[]] => [owner, []]));
  const cells = owners.flatMap((owner) => owner.cells.map((cell, index) => ({ owner, cell, index })));
  const used: number[] = [];
  // The first owner's first cell is a process's label, read at every step: it gets shift 0 of word 0.
  const [label, ...rest] = cells;
  const renamed = rest.filter(({ cell }) => isRenamed(cell));
  const plain = rest.filter(({ cell }) => !isRenamed(cell)).toSorted((a, b) => bitsOf(b.cell) - bitsOf(a.cell));
  const placed = [...(label === undefined ? [] : [label]), ...renamed, ...plain].map(({ owner, cell, index }) => {
    const bits = bitsOf(cell);
    let word = used.findIndex((taken) => taken + bits <= 32);
    if (word < 0) word = used.push(0) - 1;
    const place = { word, shift: used[word], bits };
    used[word] += bits;
    const places = of.get(owner) as Place[];
    places[index] = place;
    return { ...place, cell, variable: places, index };
  });
  return { stride: used.length, cells: placed, of };
}

function bitsOf(cell: Cell): number {
  return cell.size <= 1 ? 0 : 32 - Math.clz32(cell.size - 1);
}

function isRenamed(cell: Cell): boolean {
  return cell.renames !== undefined && cell.indexedBy === undefined;
}
