/** A trace in ITF, the JSON format of Apalache and Quint: the variables, and their values in each state. */
import type { Trace } from './trace.ts';

/** A trace in the Informal Trace Format, which TLA+ tools read: JSON. */
export function itfOf({ protocol, states, steps }: Trace): object {
  return {
    '#meta': {
      format: 'ITF',
      'format-description': 'https://apalache-mc.org/docs/adr/015adr-trace.html',
      source: protocol,
    },
    vars: [...Object.keys(states[0] ?? {}), 'step'],
    states: states.map((state, index) => {
      const step = steps[index - 1];
      return {
        '#meta': { index },
        ...state,
        step: step === undefined ? 'initial' : `${step.process}: ${step.step}`,
      };
    }),
  };
}
