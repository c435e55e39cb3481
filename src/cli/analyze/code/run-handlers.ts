/** Handlers of a route, as Express calls them: with a request, a response that only notes that it has ended, and `next`. */
import { errorText } from '../../../program/index.ts';

type Handler = (request: object, response: object, next: (error?: unknown) => void) => unknown;

/** Resolves when the last handler has answered, or its promise has. @throws what a handler throws, or gives to `next` */
export async function runHandlers(
  handlers: readonly Handler[],
  given: Readonly<Record<string, unknown>>,
): Promise<void> {
  const request = requestOf(given);
  const { response, ended } = responseStub();
  for (const handler of handlers) {
    let isNext = false;
    const passed = new Promise<void>((resolve, reject) => {
      const next = (error?: unknown): void => {
        isNext = true;
        if (error === undefined || error === null || error === 'route') resolve();
        else reject(error instanceof Error ? error : new Error(errorText(error)));
      };
      const run = async (): Promise<void> => {
        const returned = handler(request, response, next);
        await returned;
        // One that gives no promise answers, or calls `next`, later.
        if (!(returned instanceof Promise)) await ended;
        resolve();
      };
      run().catch(reject);
    });
    await passed;
    if (!isNext) return;
  }
}

function requestOf(given: Readonly<Record<string, unknown>>): object {
  const headers = given['headers'] as Readonly<Record<string, unknown>> | undefined;
  const header = (name: string): unknown => headers?.[name.toLowerCase()];
  return { method: 'POST', url: '/', ...given, get: header, header };
}

/** Each method that does not end the response returns it, as those of Express do. */
function responseStub(): { readonly response: object; readonly ended: Promise<void> } {
  let end: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const state: Record<string, unknown> = { statusCode: 200, headersSent: false, locals: {} };
  const response: object = new Proxy(state, {
    get: (target, name) => {
      if (typeof name === 'symbol' || Object.hasOwn(target, name)) return target[String(name)];
      // It is no promise.
      if (name === 'then') return undefined;
      return () => {
        if (endsResponse.test(name)) {
          target['headersSent'] = true;
          end();
        }
        return response;
      };
    },
  });
  return { response, ended };
}

const endsResponse = /^(?:json|jsonp|send|sendStatus|end|redirect|render|sendFile|download)$/;
