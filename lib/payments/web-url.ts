// URLs that go into payment requests, headers and pages.

/** Whether a text is an http or https URL in ASCII, without blanks: it means the same wherever it is written. */
export function isWebUrl(text: string): boolean {
  return /^https?:\/\/[!-~]+$/i.test(text) && URL.canParse(text);
}
