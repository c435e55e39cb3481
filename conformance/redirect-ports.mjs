/** For suites whose tests name a fixed port: `MOIRAI_SUITE_PORTS=5434:40000` connects to 40000 of this machine where a test says 5434. */
import { Socket } from 'node:net';

const ports = new Map((process.env.MOIRAI_SUITE_PORTS ?? '').split(',').map((pair) => pair.split(':').map(Number)));
const { connect } = Socket.prototype;

/** Its arguments come as they were given, or in one array where net.connect has put them in order. */
Socket.prototype.connect = function redirected(...args) {
  const list = Array.isArray(args[0]) ? args[0] : args;
  const [options] = list;
  const port = ports.get(Number(options?.port ?? options));
  if (port !== undefined) list[0] = { ...(typeof options === 'object' ? options : {}), port, host: '127.0.0.1' };
  return connect.apply(this, args);
};
