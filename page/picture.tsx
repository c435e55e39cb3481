/** Who saw what: sessions as columns, time downwards, transactions as boxes, arrows from writers to readers. */
import { useRef } from 'preact/hooks';
import type { PictureStep, RunPicture } from '../src/report/index.ts';
import { Arrows } from './arrows.tsx';
import { overwritersOf, writersOf } from './state-at.ts';
import { columnsThatDiffer, oneLine, shown, stepSentence, stepTitle, valueText } from './words.ts';

interface PictureProps {
  readonly run: RunPicture;
  /** The step of the stepper, and the one that is pointed at. */
  readonly at: number;
  readonly lit: number | null;
  /** The edge of the cycle that is pointed at. */
  readonly edge: number | null;
  readonly goTo: (step: number) => void;
  readonly point: (step: number | null) => void;
}

/** The first row has the names of sessions. */
const rowOf = (step: number): number => step + 2;
/** The first column has the numbers of steps. */
const columnOf = (session: number): number => session + 2;

export function Picture({ run, at, lit, edge, goTo, point }: PictureProps) {
  const grid = useRef<HTMLDivElement>(null);
  const columns = `${timeWidth(run)}ch repeat(${run.sessions.length}, minmax(${columnWidth(run)}rem, 1fr))`;
  const [writers, overwriters] = [writersOf(run, lit ?? -1), overwritersOf(run, lit ?? -1)];
  const ofEdge = new Set(edge === null ? [] : run.cycle[edge]?.steps);
  const lightOf = (step: number): string => {
    if (ofEdge.has(step)) return 'in-edge';
    if (writers.has(step)) return 'writer';
    return overwriters.has(step) ? 'overwriter' : '';
  };
  return (
    <section class="card picture" aria-label="Who saw what">
      <Legend run={run} />
      {run.order !== null && <p class="hint">{run.order}</p>}
      <div class="scrolls" tabIndex={0} role="region" aria-label="Schedule">
        <div class="grid" ref={grid} style={{ gridTemplateColumns: columns }}>
          {run.sessions.map((name, s) => (
            <h3 key={s} style={{ gridRow: 1, gridColumn: columnOf(s) }}>
              {shown(name, 60)}
            </h3>
          ))}
          <Boxes run={run} at={at} />
          {run.steps.map((step, i) => (
            <Step
              key={i}
              run={run}
              step={step}
              at={i}
              standing={i > at ? 'later' : i === at ? 'current' : 'done'}
              light={lightOf(i)}
              goTo={goTo}
              point={point}
            />
          ))}
          <Arrows grid={grid} run={run} at={at} lit={lit} edge={edge} />
        </div>
      </div>
    </section>
  );
}

/** Of the numbers at the left. */
function timeWidth({ steps }: RunPicture): number {
  return Math.max(4, ...steps.map(({ time }) => (time ?? '').length + 1));
}

/** The least width of a column: short texts need less, and the steps of a protocol have nothing but their names. */
function columnWidth({ steps, state }: RunPicture): number {
  return state === 'values' || steps.every(({ text }) => text.length <= shortText) ? 7 : 9.5;
}

const shortText = 20;

/** Of what is in the picture. */
function Legend({ run: { steps, transactions, cycle, messages } }: Pick<PictureProps, 'run'>) {
  const reads = steps.flatMap((step) => step.reads);
  const all: readonly (readonly [kind: string, text: string, isThere: boolean])[] = [
    ['transaction', 'transaction', transactions.length > 0],
    ['wr', 'read from its writer', reads.some(({ writer, sight }) => writer !== null && sight !== 'own')],
    ['edge', 'cycle', cycle.length > 0],
    ['stale', 'stale read', reads.some(({ sight }) => sight === 'stale')],
    ['message', 'message', messages.some(({ to }) => to !== null)],
    ['lost', 'message not received', messages.some(({ to }) => to === null)],
    ['run', 'under way', steps.some(({ part, waitedFor }) => part === 'end' && waitedFor === null)],
    ['wait', 'lock wait', steps.some(({ waitedFor }) => waitedFor !== null)],
    ['aborted', 'aborted transaction', transactions.some(({ status }) => status === 'aborted')],
  ];
  return (
    <p class="legend" aria-hidden="true">
      {all
        .filter(([, , isThere]) => isThere)
        .map(([kind, text]) => (
          <span key={kind} class={`key ${kind}`}>
            {text}
          </span>
        ))}
    </p>
  );
}

/** Transactions, lock waits, and the lanes of processes, behind the steps. */
function Boxes({ run, at }: Pick<PictureProps, 'run' | 'at'>) {
  return (
    <>
      {run.state === 'values' &&
        run.sessions.map((_, s) => {
          const style = { gridColumn: columnOf(s), gridRow: `2 / ${rowOf(run.steps.length)}` };
          return <div key={s} aria-hidden="true" class="lane" style={style} />;
        })}
      {run.transactions.map(({ session, status }, t) => {
        const rows = run.steps.flatMap((step, i) => (step.transaction === t ? [i] : []));
        const [first = 0, last = 0] = [rows[0], rows.at(-1)];
        const style = { gridColumn: columnOf(session), gridRow: `${rowOf(first)} / ${rowOf(last) + 1}` };
        return <div key={t} aria-hidden="true" class={`box ${status} ${first > at ? 'later' : ''}`} style={style} />;
      })}
      {run.steps.map((step, i) => {
        const began = stepBegan(run, i);
        if (began === null) return null;
        const style = { gridColumn: columnOf(step.session), gridRow: `${rowOf(began)} / ${rowOf(i) + 1}` };
        const kind = step.waitedFor === null ? '' : 'waits';
        return <div key={i} aria-hidden="true" class={`bar ${kind}`} style={style} />;
      })}
    </>
  );
}

/** Where what ends with this step began; `null`: it took no time that is drawn. */
function stepBegan({ steps }: RunPicture, end: number): number | null {
  const step = steps[end];
  if (step === undefined || step.part === 'begin') return null;
  if (step.part === 'whole') return step.waitedFor === null ? null : end;
  const began = steps.findLastIndex(
    ({ part, session, transaction, text }, i) =>
      i < end && part === 'begin' && session === step.session && transaction === step.transaction && text === step.text,
  );
  return began < 0 ? null : began;
}

/** A recorded transaction may have ended where nothing is drawn. */
function statusText({ order }: RunPicture, status: RunPicture['transactions'][number]['status']): string {
  if (status !== 'unknown') return status;
  return order === null ? 'left open' : '';
}

interface StepProps extends Pick<PictureProps, 'run' | 'goTo' | 'point'> {
  readonly step: PictureStep;
  readonly at: number;
  readonly standing: 'done' | 'current' | 'later';
  readonly light: string;
}

function Step({ run, step, at, standing, light, goTo, point }: StepProps) {
  const isFirst = run.steps.findIndex(({ transaction }) => transaction === step.transaction) === at;
  const transaction = run.transactions[step.transaction];
  const place = { gridRow: rowOf(at), gridColumn: columnOf(step.session) };
  return (
    <>
      <span class="number" aria-hidden="true" style={{ gridRow: rowOf(at), gridColumn: 1 }}>
        {step.time ?? at + 1}
      </span>
      <div class="cell" style={place}>
        {isFirst && transaction !== undefined && (
          <span class="box-name">
            {shown(transaction.name, 60)}
            <small>{statusText(run, transaction.status)}</small>
          </span>
        )}
        <button
          type="button"
          class={`step ${standing} ${step.part} ${light} ${step.isError ? 'error' : ''}`}
          data-step={at}
          aria-current={standing === 'current' ? 'step' : undefined}
          aria-label={`Step ${at + 1}, ${stepSentence(run, at)}`}
          onClick={() => goTo(at)}
          onMouseEnter={() => point(at)}
          onMouseLeave={() => point(null)}
          onFocus={() => point(at)}
          onBlur={() => point(null)}
        >
          <StepText run={run} step={step} />
        </button>
      </div>
    </>
  );
}

/** Messages are arrows, and variables stand beside the picture. */
function StepText({ run, step }: Pick<StepProps, 'run' | 'step'>) {
  const columns = columnsThatDiffer(run);
  const parameters = step.parameters.length === 0 ? '' : ` [${step.parameters.join(', ')}]`;
  return (
    <>
      <span class="statement">
        {step.part === 'end' && '… '}
        {shown(stepTitle(step), 160)}
        {parameters !== '' && <i>{shown(parameters, 80)}</i>}
      </span>
      {step.role !== null && <span class="tag role">{shown(step.role, 120)}</span>}
      {step.takesSnapshot !== null && <span class="tag snapshot">snapshot</span>}
      {step.waitedFor !== null && <span class="tag wait">waited for {shown(oneLine(step.waitedFor), 80)}</span>}
      {step.outcome !== '' && <span class="outcome">{shown(oneLine(step.outcome), 120)}</span>}
      {step.reads
        .filter(
          ({ sight, condition }) =>
            condition === null && (sight === 'stale' || sight === 'dirty' || step.outcome === ''),
        )
        .map(({ key, value, sight }, i) => (
          <span key={i} class={`read ${sight}`}>
            {sight === 'stale' && <b>stale</b>}
            {sight === 'dirty' && <b>uncommitted</b>} {shown(key, 60)} = {valueText(value, columns(key))}
          </span>
        ))}
      {step.writes
        .filter(({ key }) => run.state !== 'values' && !key.includes(' where '))
        .map(({ key, value }, i) => (
          <span key={i} class="write">
            {shown(key, 60)} := {valueText(value, columns(key))}
          </span>
        ))}
    </>
  );
}
