/** Arrows over the grid: from each writer to the reads that saw it, messages, and the edges of the cycle. Drawn where the steps stand after layout. */
import type { RefObject } from 'preact';
import { useLayoutEffect, useState } from 'preact/hooks';
import type { RunPicture } from '../src/report/index.ts';
import { shown } from './words.ts';

interface ArrowsProps {
  readonly grid: RefObject<HTMLDivElement | null>;
  readonly run: RunPicture;
  readonly at: number;
  readonly lit: number | null;
  readonly edge: number | null;
}

interface Arrow {
  readonly from: number;
  /** `null`: a message that was not received. */
  readonly to: number | null;
  readonly kind: 'wr' | 'message' | 'edge';
  readonly label: string;
  readonly isLit: boolean;
}

interface Place {
  readonly left: number;
  readonly right: number;
  readonly middle: number;
  readonly session: number;
}

export function Arrows({ grid, run, at, lit, edge }: ArrowsProps) {
  const [layout, setLayout] = useState<{
    readonly places: readonly Place[];
    readonly width: number;
    readonly height: number;
  } | null>(null);
  useLayoutEffect(() => {
    const element = grid.current;
    if (element === null) return undefined;
    const measure = (): void => setLayout(layoutOf(element, run));
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, [run]);
  if (layout === null) return null;
  const { places, width, height } = layout;
  const arrows = arrowsOf(run, at, lit, edge);
  return (
    <svg class="arrows" aria-hidden="true" width={width} height={height} viewBox={`0 0 ${width} ${height}`}>
      <defs>
        {(['wr', 'message', 'edge'] as const).map((kind) => (
          <marker
            key={kind}
            id={`head-${kind}`}
            class={kind}
            viewBox="0 0 8 8"
            refX="7"
            refY="4"
            markerUnits="userSpaceOnUse"
            markerWidth="10"
            markerHeight="10"
            orient="auto-start-reverse"
          >
            <path d="M0 0 8 4 0 8z" />
          </marker>
        ))}
      </defs>
      {arrows.map(({ from, to, kind, label, isLit }, i) => {
        const [a, b] = [places[from], to === null ? null : places[to]];
        if (a === undefined || b === undefined) return null;
        if (b === null) return <LostMessage key={`${kind} ${from} ${label}`} place={a} label={label} />;
        const { path, x, y } = curve(a, b, i, arrows.length);
        return (
          <g key={`${kind} ${from} ${to} ${label}`} class={`${kind} ${isLit ? 'lit' : ''}`}>
            <path d={path} marker-end={`url(#head-${kind})`} />
            {kind !== 'wr' && (
              <text x={x} y={y}>
                {shown(label, 60)}
              </text>
            )}
          </g>
        );
      })}
    </svg>
  );
}

/** It ends beside its sender. */
function LostMessage({ place: { right, middle }, label }: { readonly place: Place; readonly label: string }) {
  return (
    <g class="message lost">
      <title>{shown(label)}, not received</title>
      <path d={`M${right} ${middle} h16`} />
      <path d={`M${right + 13} ${middle - 4} l8 8 m0 -8 l-8 8`} />
    </g>
  );
}

/** What the picture shows up to the step. */
function arrowsOf(
  { steps, cycle, messages }: RunPicture,
  at: number,
  lit: number | null,
  edge: number | null,
): Arrow[] {
  const inCycle = new Set(cycle.map((each) => each.steps.join()));
  const reads = steps.flatMap(({ reads: all }, to) =>
    [
      ...new Set(
        all.flatMap(({ writer, sight }) => (writer === null || sight === 'own' || writer === to ? [] : [writer])),
      ),
    ].map((from): Arrow => ({ from, to, kind: 'wr', label: 'wr', isLit: to === lit || from === lit })),
  );
  const edges = cycle.flatMap(({ steps: ends, relation }, i): Arrow[] => {
    const [from, to] = ends;
    if (from === undefined || to === undefined || from === to) return [];
    return [{ from, to, kind: 'edge', label: relation, isLit: i === edge || from === lit || to === lit }];
  });
  const plain = reads.filter(({ from, to }) => !inCycle.has([from, to].join()));
  const sent = messages.map(
    ({ from, to, text }): Arrow => ({ from, to, kind: 'message', label: text, isLit: from === lit || to === lit }),
  );
  return [...plain, ...sent, ...edges].filter(({ from, to }) => Math.max(from, to ?? from) <= at);
}

function layoutOf(grid: HTMLDivElement, { steps }: RunPicture) {
  const origin = grid.getBoundingClientRect();
  const buttons = [...grid.querySelectorAll('[data-step]')];
  const places = buttons.map((button, i): Place => {
    const { left, right, top, bottom } = button.getBoundingClientRect();
    const middle = (top + bottom) / 2 - origin.top;
    return { left: left - origin.left, right: right - origin.left, middle, session: steps[i]?.session ?? 0 };
  });
  return { places, width: grid.scrollWidth, height: grid.scrollHeight };
}

interface Curve {
  readonly path: string;
  /** Of its label, which stands where those of other arrows between the same columns do not. */
  readonly x: number;
  readonly y: number;
}

/** Between columns a curve from side to side; within one a bow at its right. @param number of the arrow, from 0 */
function curve(a: Place, b: Place, number: number, count: number): Curve {
  const shift = ((number % 5) - 2) * 3;
  const part = (number + 1) / (count + 1);
  if (a.session === b.session) {
    const bow = a.right + 22 + shift;
    return cubic([a.right, bow, bow, b.right], [a.middle, a.middle, b.middle, b.middle], part);
  }
  const isRightwards = a.session < b.session;
  const [x1, x2] = isRightwards ? [a.right, b.left] : [a.left, b.right];
  const bend = Math.max(24, Math.abs(x2 - x1) / 2) * (isRightwards ? 1 : -1);
  const [y1, y2] = [a.middle + shift, b.middle + shift];
  return cubic([x1, x1 + bend, x2 - bend, x2], [y1, y1, y2, y2], part);
}

type Four = readonly [number, number, number, number];

/** A Bézier curve, and its point at `part` of the way. */
function cubic(x: Four, y: Four, part: number): Curve {
  const rest = 1 - part;
  const at = ([p0, p1, p2, p3]: Four): number =>
    rest ** 3 * p0 + 3 * rest ** 2 * part * p1 + 3 * rest * part ** 2 * p2 + part ** 3 * p3;
  return { path: `M${x[0]} ${y[0]} C${x[1]} ${y[1]} ${x[2]} ${y[2]} ${x[3]} ${y[3]}`, x: at(x), y: at(y) };
}
