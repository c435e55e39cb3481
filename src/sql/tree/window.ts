/** Windows, as PostgreSQL's parser makes them; see constant.ts for `at`. */
import type { Node, WindowDef } from '@pgsql/types';
import { SqlError } from '../model/index.ts';

/** `windows.h` and `parsenodes.h`: FRAMEOPTION_... */
const frameOption = {
  isGiven: 0x1,
  range: 0x2,
  rows: 0x4,
  between: 0x10,
  startUnboundedPreceding: 0x20,
  endUnboundedPreceding: 0x40,
  startUnboundedFollowing: 0x80,
  endUnboundedFollowing: 0x100,
  startCurrentRow: 0x200,
  endCurrentRow: 0x400,
  startOffsetPreceding: 0x800,
  endOffsetPreceding: 0x1000,
  startOffsetFollowing: 0x2000,
  endOffsetFollowing: 0x4000,
} as const;

/** RANGE from the beginning to the current row. */
const frameDefault = frameOption.range | frameOption.startUnboundedPreceding | frameOption.endCurrentRow;

export interface FrameBound {
  readonly place: 'unbounded preceding' | 'preceding' | 'current row' | 'following' | 'unbounded following';
  readonly offset: Node | undefined;
}

export interface WindowFrame {
  readonly unit: 'rows' | 'range';
  readonly start: FrameBound;
  /** `undefined`: without BETWEEN, to the current row. */
  readonly end: FrameBound | undefined;
}

const starts: Readonly<Record<FrameBound['place'], number>> = {
  'unbounded preceding': frameOption.startUnboundedPreceding,
  preceding: frameOption.startOffsetPreceding,
  'current row': frameOption.startCurrentRow,
  following: frameOption.startOffsetFollowing,
  'unbounded following': frameOption.startUnboundedFollowing,
};

const ends: Readonly<Record<FrameBound['place'], number>> = {
  'unbounded preceding': frameOption.endUnboundedPreceding,
  preceding: frameOption.endOffsetPreceding,
  'current row': frameOption.endCurrentRow,
  following: frameOption.endOffsetFollowing,
  'unbounded following': frameOption.endUnboundedFollowing,
};

export interface WindowParts {
  /** The window that this one refines. */
  readonly base: string | undefined;
  readonly partitionBy: readonly Node[];
  readonly orderBy: readonly Node[];
  readonly frame: WindowFrame | undefined;
}

/** @throws SqlError 42P20 a frame that ends before it starts */
export function windowDef({ base, partitionBy, orderBy, frame }: WindowParts, at: number): WindowDef {
  return {
    ...(base === undefined ? {} : { refname: base }),
    ...(partitionBy.length === 0 ? {} : { partitionClause: [...partitionBy] }),
    ...(orderBy.length === 0 ? {} : { orderClause: [...orderBy] }),
    ...(frame === undefined ? { frameOptions: frameDefault } : frameClauses(frame, at)),
    location: at,
  };
}

/** `OVER name`. */
export function namedWindow(name: string, at: number): WindowDef {
  return { name, frameOptions: frameDefault, location: at };
}

type FrameClauses = Pick<WindowDef, 'frameOptions' | 'startOffset' | 'endOffset'>;

function frameClauses({ unit, start, end }: WindowFrame, at: number): FrameClauses {
  const impossible = impossibleBounds(start, end);
  if (impossible !== undefined) throw new SqlError('42P20', impossible, { position: at + 1 });
  const last = end ?? { place: 'current row', offset: undefined };
  return {
    frameOptions:
      frameOption.isGiven |
      frameOption[unit] |
      (end === undefined ? 0 : frameOption.between) |
      starts[start.place] |
      ends[last.place],
    ...(start.offset === undefined ? {} : { startOffset: start.offset }),
    ...(last.offset === undefined ? {} : { endOffset: last.offset }),
  };
}

/** The refusals of gram.y, `frame_extent`. */
function impossibleBounds({ place: start }: FrameBound, end: FrameBound | undefined): string | undefined {
  if (start === 'unbounded following') return 'frame start cannot be UNBOUNDED FOLLOWING';
  if (end === undefined)
    return start === 'following' ? 'frame starting from following row cannot end with current row' : undefined;
  if (end.place === 'unbounded preceding') return 'frame end cannot be UNBOUNDED PRECEDING';
  if (start === 'current row' && end.place === 'preceding')
    return 'frame starting from current row cannot have preceding rows';
  return start === 'following' && (end.place === 'preceding' || end.place === 'current row')
    ? 'frame starting from following row cannot have preceding rows'
    : undefined;
}
