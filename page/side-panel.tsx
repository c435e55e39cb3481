/** The stepper, the step in words, and what is committed beside what each session has seen. */
import { Fragment } from 'preact';
import type { PictureStep, RunPicture } from '../src/report/index.ts';
import { type KeyState, type Seen, stateAt, valuesAt } from './state-at.ts';
import {
  columnsThatDiffer,
  messagesAt,
  oneLine,
  readSentence,
  shown,
  statementText,
  stepSentence,
  valueIn,
  valueText,
} from './words.ts';

interface PanelProps {
  readonly run: RunPicture;
  readonly at: number;
  readonly goTo: (step: number) => void;
}

export function SidePanel({ run, at, goTo }: PanelProps) {
  return (
    <aside aria-label="Step by step">
      <Stepper run={run} at={at} goTo={goTo} />
      <StepDetails run={run} at={at} />
      {run.state === 'sessions' && <State run={run} at={at} />}
      {run.state === 'values' && <Values run={run} at={at} />}
    </aside>
  );
}

function Stepper({ run, at, goTo }: PanelProps) {
  const last = run.steps.length - 1;
  return (
    <section class="card stepper">
      <div class="controls" role="group" aria-label="Stepper">
        <button type="button" aria-label="Before the first step" disabled={at < 0} onClick={() => goTo(-1)}>
          «
        </button>
        <button type="button" aria-label="Step back" disabled={at < 0} onClick={() => goTo(at - 1)}>
          ‹
        </button>
        <progress aria-label="Steps done" max={run.steps.length} value={at + 1} />
        <button type="button" aria-label="Step forward" disabled={at === last} onClick={() => goTo(at + 1)}>
          ›
        </button>
        <button type="button" aria-label="Last step" disabled={at === last} onClick={() => goTo(last)}>
          »
        </button>
      </div>
      <p class="step-line" aria-live="polite" id="step">
        <b>
          {at + 1} of {run.steps.length}
        </b>{' '}
        {stepSentence(run, at)}
      </p>
      <p class="hint">
        <kbd>←</kbd> <kbd>→</kbd> step, <kbd>Home</kbd> <kbd>End</kbd> first and last
      </p>
    </section>
  );
}

function StepDetails({ run, at }: Omit<PanelProps, 'goTo'>) {
  const step = run.steps[at];
  if (step === undefined || step.text.length + step.reads.length + step.writes.length === 0) return null;
  return (
    <section class="card details">
      <h3>{shown(run.sessions[step.session] ?? '')}</h3>
      <pre tabIndex={0}>{statementText(step.text)}</pre>
      <dl>
        {facts(run, at, step).map(([name, text], i) => (
          <div key={i}>
            <dt>{name}</dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

function facts(run: RunPicture, at: number, step: PictureStep): (readonly [string, string])[] {
  const snapshot =
    step.takesSnapshot === 'transaction' ? 'takes the snapshot of its transaction' : 'takes its snapshot';
  return [
    ...(step.time === null ? [] : [['time', step.time] as const]),
    ...(step.role === null ? [] : [['role', shown(step.role)] as const]),
    ...messagesAt(run, at).map((text) => ['messages', text] as const),
    ...(step.parameters.length === 0 ? [] : [['with', shown(step.parameters.join(', '))] as const]),
    ...(step.takesSnapshot === null ? [] : [['snapshot', snapshot] as const]),
    ...(step.readsOlder
      ? [['snapshot', 'reads the snapshot of its transaction, taken before others committed'] as const]
      : []),
    ...(step.waitedFor === null ? [] : [['waited for', shown(step.waitedFor)] as const]),
    ...(step.outcome === '' ? [] : [['result', shown(oneLine(step.outcome), 2_000)] as const]),
    ...step.reads.map((read) => {
      const condition = read.condition === null ? '' : `, which does not satisfy ${read.condition}`;
      return [
        'read',
        `${shown(read.key)} = ${valueText(read.value)}${shown(condition)}: ${readSentence(read)}`,
      ] as const;
    }),
    ...step.writes.map(({ key, value }) => ['wrote', `${shown(key)} = ${valueIn(run, value)}`] as const),
    ...(step.ends === null ? [] : [['transaction', step.ends] as const]),
  ];
}

function State({ run, at }: Omit<PanelProps, 'goTo'>) {
  const states = stateAt(run, at);
  if (states.length === 0) return null;
  const columns = columnsThatDiffer(run);
  return (
    <section class="card state">
      <h3>Who knows what</h3>
      <div class="scrolls" tabIndex={0} role="region" aria-label="Who knows what">
        <table>
          <thead>
            <tr>
              <th scope="col">key</th>
              <th scope="col">committed</th>
              {run.sessions.map((name, i) => (
                <th key={i} scope="col">
                  {shown(name)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {states.map((state) => (
              <StateRow key={state.key} state={state} columns={columns(state.key)} />
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

/** Of variables, which every process may see. */
function Values({ run, at }: Omit<PanelProps, 'goTo'>) {
  return (
    <section class="card state values">
      <h3>Variables</h3>
      <div class="scrolls" tabIndex={0} role="region" aria-label="Variables">
        <table>
          <tbody>
            {valuesAt(run, at).map(({ key, value, isChanged }) => (
              <tr key={key}>
                <th scope="row">
                  <Key name={key} />
                </th>
                <td class={isChanged ? 'changed' : ''}>{valueIn(run, value)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function StateRow({ state, columns }: { readonly state: KeyState; readonly columns: ReadonlySet<string> | null }) {
  return (
    <tr>
      <th scope="row">
        <Key name={state.key} />
      </th>
      <td class={state.isChanged ? 'changed' : ''}>{valueText(state.committed, columns)}</td>
      {state.seen.map((seen, i) => (
        <td
          key={i}
          class={seen === null ? 'unseen' : seen.isOutdated ? 'outdated' : seen.isUncommitted ? 'uncommitted' : ''}
        >
          {seen === null ? '·' : valueText(seen.value, columns)}
          {seen !== null && <small>{remark(seen)}</small>}
        </td>
      ))}
    </tr>
  );
}

/** A line may break behind a slash. */
function Key({ name }: { readonly name: string }) {
  const [first = '', ...rest] = shown(name, 80).split('/');
  return (
    <>
      {first}
      {rest.map((part, i) => (
        <Fragment key={i}>
          /<wbr />
          {part}
        </Fragment>
      ))}
    </>
  );
}

function remark({ isOutdated, isUncommitted }: Seen): string {
  if (isUncommitted) return 'not committed';
  return isOutdated ? 'outdated' : '';
}
