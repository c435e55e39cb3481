/** A request's own name is left out: `req.body.amount` is `body.amount`. */
export const request = '#request';
