/**
 * Symmetry reduction: of all states that differ only by the names of interchangeable members, the search keeps the least.
 *
 * The cost decides the design. A block's words under a renaming depend only on the sets that the block mentions, so each block
 * is renamed once for each permutation of those (two table look-ups a word), and the group elements are then compared word
 * by word, most of them no further than the first. Ip and Dill, "Better verification through symmetry", FMSD 1996.
 */
import { InputError } from '../base/index.ts';
import type { Cell } from './kind.ts';
import type { Block, Layout, PlacedCell } from './layout.ts';
import type { Member, NamedSet } from './named-set.ts';

export interface Symmetry {
  readonly order: number;
  /** Replaces a state by the least state that a renaming makes of it. */
  readonly canonicalise: (words: Int32Array) => void;
  /** For tests: the state under each renaming. */
  readonly images: (words: Int32Array) => Int32Array[];
}

/** Where each member goes: for each set of the group, its permutation. */
type Renaming = ReadonlyMap<NamedSet, readonly Member[]>;

const orderMax = 5040;
const tableBits = 12;

export function symmetryOf(layout: Layout, sets: readonly NamedSet[]): Symmetry {
  const group = renamings(sets);
  const plan = layout.blocks.map((block) => planBlock(block, sets));
  const sizes = plan.map(({ block, group: own }) => own.length * block.stride * (block.set?.size ?? 1));
  const starts = sizes.map((_, b) => sizes.slice(0, b).reduce((sum, size) => sum + size, 0));
  const renamed = new Int32Array(sizes.reduce((sum, size) => sum + size, 0));
  const { words } = layout;
  // sources[g * words + i]: where in `renamed` the word i of the state under renaming g is.
  const sources = new Int32Array(group.length * words);
  for (const [g, renaming] of group.entries()) {
    for (const [b, { block, group: own, sets: mentioned }] of plan.entries()) {
      const variant = own.findIndex((other) => mentioned.every((set) => same(other.get(set), renaming.get(set))));
      const members = block.set?.size ?? 1;
      for (let member = 0; member < members; member += 1) {
        const to = block.set === null ? 0 : (renaming.get(block.set)?.[member] ?? member);
        for (let w = 0; w < block.stride; w += 1) {
          sources[g * words + block.base + to * block.stride + w] =
            starts[b] + (variant * members + member) * block.stride + w;
        }
      }
    }
  }
  const renameAll = (state: Int32Array): void => {
    for (let b = 0; b < plan.length; b += 1) plan[b].rename(state, renamed, starts[b]);
  };
  const least = new Int32Array(words);
  return {
    order: group.length,
    canonicalise: (state) => {
      if (group.length === 1) return;
      renameAll(state);
      leastImage(renamed, sources, group.length, words, least);
      for (let i = 0; i < words; i += 1) state[i] = least[i];
    },
    images: (state) => {
      renameAll(state);
      return group.map((_, g) => Int32Array.from({ length: words }, (__, i) => renamed[sources[g * words + i]]));
    },
  };
}

function leastImage(renamed: Int32Array, sources: Int32Array, order: number, words: number, least: Int32Array): void {
  for (let i = 0; i < words; i += 1) least[i] = renamed[sources[i]];
  for (let from = words, end = order * words; from < end; from += words) {
    let i = 0;
    let word = 0;
    let bound = 0;
    do {
      word = renamed[sources[from + i]];
      bound = least[i];
      i += 1;
    } while (word === bound && i < words);
    if (word >= bound) continue;
    least[i - 1] = word;
    for (; i < words; i += 1) least[i] = renamed[sources[from + i]];
  }
}

/** All combinations of permutations of the sets; the identity is the first. */
function renamings(sets: readonly NamedSet[]): Renaming[] {
  let group: Renaming[] = [new Map()];
  for (const set of sets) {
    const all = permutations(set.members);
    if (group.length * all.length > orderMax) {
      throw new InputError('protocol/symmetry', `more than ${orderMax} renamings: give fewer sets in symmetry`);
    }
    group = group.flatMap((renaming) => all.map((permutation) => new Map([...renaming, [set, permutation]])));
  }
  return group;
}

function permutations(members: readonly Member[]): Member[][] {
  if (members.length <= 1) return [[...members]];
  return members.flatMap((first) =>
    permutations(members.filter((member) => member !== first)).map((rest) => [first, ...rest]),
  );
}

interface BlockPlan {
  readonly block: Block;
  /** The interchangeable sets whose members its cells mention, and their renamings. */
  readonly sets: readonly NamedSet[];
  readonly group: readonly Renaming[];
  /** Writes all its words under all of `group` to `into`. */
  readonly rename: (state: Int32Array, into: Int32Array, at: number) => void;
}

function planBlock(block: Block, symmetric: readonly NamedSet[]): BlockPlan {
  const mentions = (cell: Cell, set: NamedSet): boolean =>
    cell.renames?.set === set || (cell.indexedBy?.some((index) => index.set === set) ?? false);
  const sets = symmetric.filter((set) => block.cells.some(({ cell }) => mentions(cell, set)));
  const changes = ({ cell }: PlacedCell): boolean => sets.some((set) => mentions(cell, set));
  const group = renamings(sets);
  const members = block.set?.size ?? 1;
  const kept = new Int32Array(block.stride);
  for (const placed of block.cells) if (!changes(placed)) kept[placed.word] |= maskOf(placed);
  const pieces = piecesOf(block.cells.filter(changes));
  const tables = pieces.map((piece) => group.map((renaming) => tableOf(piece, renaming)));
  return {
    block,
    sets,
    group,
    rename: (state, into, at) => {
      let next = at;
      for (let g = 0; g < group.length; g += 1) {
        for (let from = block.base, end = from + members * block.stride; from < end; from += block.stride) {
          for (let w = 0; w < block.stride; w += 1) into[next + w] = state[from + w] & kept[w];
          for (let p = 0; p < pieces.length; p += 1) {
            const piece = pieces[p];
            const table = tables[p][g];
            const code = (state[from + piece.word] >>> piece.shift) & piece.mask;
            into[next + table.word] |= table.words[code];
          }
          next += block.stride;
        }
      }
    },
  };
}

/** Neighbouring cells that are renamed by one look-up. */
interface Piece {
  readonly word: number;
  readonly shift: number;
  readonly mask: number;
  readonly cells: readonly PlacedCell[];
}

function piecesOf(cells: readonly PlacedCell[]): Piece[] {
  const pieces: PlacedCell[][] = [];
  const inOrder = cells.toSorted((a, b) => a.word - b.word || a.shift - b.shift);
  for (const cell of inOrder) {
    const last = pieces.at(-1);
    const first = last?.[0];
    const before = last?.at(-1);
    const joins =
      first !== undefined &&
      before !== undefined &&
      first.cell.indexedBy === undefined &&
      cell.cell.indexedBy === undefined &&
      before.word === cell.word &&
      before.shift + before.bits === cell.shift &&
      cell.shift + cell.bits - first.shift <= tableBits;
    if (joins) last?.push(cell);
    else pieces.push([cell]);
  }
  return pieces.map((list) => {
    const first = list[0];
    const bits = list.reduce((sum, cell) => sum + cell.bits, 0);
    if (bits > tableBits)
      throw new InputError(
        'protocol/symmetry',
        `a value of ${bits} bits for each interchangeable member; at most ${tableBits}`,
      );
    return { word: first.word, shift: first.shift, mask: 2 ** bits - 1, cells: list };
  });
}

interface Table {
  /** The word of the block that the renamed cells go to. */
  readonly word: number;
  /** For each code of the piece, what to add to that word. */
  readonly words: Int32Array;
}

function tableOf(piece: Piece, renaming: Renaming): Table {
  const targets = piece.cells.map((cell) => targetOf(cell, renaming));
  const words = new Int32Array(piece.mask + 1);
  for (let code = 0; code <= piece.mask; code += 1) {
    let word = 0;
    for (const [c, cell] of piece.cells.entries()) {
      const own = (code >>> (cell.shift - piece.shift)) & (2 ** cell.bits - 1);
      word |= renameCode(cell.cell, own, renaming) << (targets[c]?.shift ?? 0);
    }
    words[code] = word;
  }
  return { word: targets[0]?.word ?? 0, words };
}

/** Where the cell goes when it belongs to members that are renamed. */
function targetOf(placed: PlacedCell, renaming: Renaming): { readonly word: number; readonly shift: number } {
  let { index } = placed;
  for (const { set, member, stride } of placed.cell.indexedBy ?? []) {
    index += ((renaming.get(set)?.[member] ?? member) - member) * stride;
  }
  return placed.variable[index] ?? placed;
}

function renameCode({ renames }: Cell, code: number, renaming: Renaming): number {
  const permutation = renames === undefined ? undefined : renaming.get(renames.set);
  if (renames === undefined || permutation === undefined) return code;
  if (renames.as === 'member')
    return code < renames.none ? code : (permutation[code - renames.none] ?? code - renames.none) + renames.none;
  let members = 0;
  for (const [from, to] of permutation.entries()) members |= ((code >>> from) & 1) << to;
  return members;
}

function maskOf({ shift, bits }: PlacedCell): number {
  return bits === 32 ? -1 : (2 ** bits - 1) << shift;
}

function same(a: readonly Member[] | undefined, b: readonly Member[] | undefined): boolean {
  return (a ?? []).every((member, i) => member === b?.[i]);
}
