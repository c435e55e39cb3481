/** One failing run: why, the picture, and the stepper beside what is known at its step. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { RunPicture } from '../src/report/index.ts';
import { Picture } from './picture.tsx';
import { TableCard } from './table-card.tsx';
import { SidePanel } from './side-panel.tsx';
import { shown } from './words.ts';

export function RunView({ run, isNamed }: { readonly run: RunPicture; readonly isNamed: boolean }) {
  const last = run.steps.length - 1;
  const [at, goTo] = useState(last);
  // Keys may come faster than the page is drawn.
  const standing = useRef(last);
  // Nothing is lit until the reader points at a step or moves.
  const [lit, light] = useState<number | null>(null);
  const [edge, pointAtEdge] = useState<number | null>(null);
  const move = (step: number): void => {
    const to = Math.min(last, Math.max(-1, step));
    standing.current = to;
    goTo(to);
    light(to);
    document.querySelector(`[data-step="${to}"]`)?.scrollIntoView({ block: 'nearest' });
  };
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || scrolls(event.target)) return;
      const to = stepFor(event.key, standing.current, last);
      if (to === null) return;
      event.preventDefault();
      move(to);
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  });
  const hasReason = !isNamed || run.cause.length + run.cycle.length > 0 || run.replay !== null;
  return (
    <article>
      {hasReason && (
        <section class="card why">
          <h2>{isNamed ? 'Why' : shown(run.message, 1_000)}</h2>
          {run.cause.map((sentence) => (
            <p key={sentence}>{shown(sentence, 2_000)}</p>
          ))}
          {run.cycle.length > 0 && <Cycle run={run} lit={lit} pointAt={pointAtEdge} goTo={move} />}
          <Relations run={run} />
          {run.replay !== null && <Replay command={run.replay} />}
        </section>
      )}
      {run.tables.map((table) => (
        <TableCard key={table.title} table={table} />
      ))}
      {run.steps.length > 0 && (
        <div class="stage">
          <Picture run={run} at={at} lit={lit} edge={edge} goTo={move} point={light} />
          <SidePanel run={run} at={at} goTo={move} />
        </div>
      )}
    </article>
  );
}

/** Does the key move what it is in? */
function scrolls(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.tabIndex === 0 && target.scrollWidth > target.clientWidth;
}

function stepFor(key: string, at: number, last: number): number | null {
  switch (key) {
    case 'ArrowRight':
      return at + 1;
    case 'ArrowLeft':
      return at - 1;
    case 'Home':
      return -1;
    case 'End':
      return last;
    default:
      return null;
  }
}

interface CycleProps {
  readonly run: RunPicture;
  readonly lit: number | null;
  readonly pointAt: (edge: number | null) => void;
  readonly goTo: (step: number) => void;
}

/** Every line leads to the next, the last to the first. */
function Cycle({ run, lit, pointAt, goTo }: CycleProps) {
  return (
    <ol class="cycle" aria-label="The cycle: each line leads to the next, the last to the first">
      {run.cycle.map(({ relation, text, steps }, i) => (
        <li key={i} class={lit !== null && steps.includes(lit) ? 'lit' : ''}>
          <button
            type="button"
            onClick={() => goTo(Math.max(...steps, 0))}
            onMouseEnter={() => pointAt(i)}
            onMouseLeave={() => pointAt(null)}
            onFocus={() => pointAt(i)}
            onBlur={() => pointAt(null)}
          >
            <abbr>{relation}</abbr> {shown(text, 600)}
          </button>
        </li>
      ))}
    </ol>
  );
}

/** What the abbreviations of the cycle mean. */
function Relations({ run }: Pick<CycleProps, 'run'>) {
  const used = new Set(run.cycle.map(({ relation }) => relation));
  if (used.size === 0) return null;
  return <p class="hint">{[...used].map((each) => `${each}: ${relations[each] ?? each}`).join(' · ')}</p>;
}

const relations: Readonly<Record<string, string>> = {
  wr: 'the second transaction read what the first wrote',
  ww: 'the second overwrote what the first wrote',
  rw: 'the second overwrote what the first had read',
  so: 'the second follows in the session of the first',
  rt: 'the second began after the first had ended',
  co: 'an order that the proof assumes',
};

function Replay({ command }: { readonly command: string }) {
  const [isCopied, copied] = useState(false);
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(command);
    copied(true);
    setTimeout(() => copied(false), 2_000);
  };
  return (
    <p class="replay">
      <span>Replay</span>
      <code>{shown(command, 2_000)}</code>
      <button type="button" onClick={() => void copy().catch(() => copied(false))}>
        {isCopied ? 'Copied' : 'Copy'}
      </button>
    </p>
  );
}
