// Requests to bcoin's own interface that break off. bcoin's object for a request (bweb) says
// a second time that it broke, to nobody: on Node.js 16 and later that ends the process. A GET with a body
// whose client leaves is enough, and no key is asked for.

import type { HostHttp } from './host';

/** The node goes on whoever leaves. bcoin logs the error as before. */
export function outliveBrokenRequests(http: HostHttp): void {
  http.on('request', (request) => { request.on('error', () => undefined); });
}
