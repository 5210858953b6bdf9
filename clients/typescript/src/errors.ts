// What can go wrong. The message says what to do about it.
//
// TypedMemoryError
//   ConnectionFailed        no service answers there
//   TimedOut                no answer in time
//   ApiError                the service refused: status, problem, fieldErrors, requestId
//     InvalidInput          400, 413, 415, 422: a field is wrong
//     Unauthorized          401: no key, or not a valid one
//     Forbidden             403: the key lacks a role
//     NotFound              404: no such thing, or it is another tenant's
//     Conflict              409: other writes came first, or an idempotency key was used for another request
//       ReviewConflict      409: the review item has changed; `current` is its new state
//     Erased                410: what this request wrote was erased since
//     NotConfigured         501: the service lacks what it takes, such as a language model
//     Unavailable           429, other 5xx: try again later
import type { FieldError, Problem, ReviewMoved } from "./types.ts";

export class TypedMemoryError extends Error {
  override get name(): string {
    return this.constructor.name;
  }
}

export class ConnectionFailed extends TypedMemoryError {}

export class TimedOut extends TypedMemoryError {}

export class ApiError extends TypedMemoryError {
  readonly status: number;
  readonly problem: Problem | undefined;

  constructor(status: number, problem: Problem | undefined, fallback = "") {
    super(message(status, problem, fallback));
    this.status = status;
    this.problem = problem;
  }

  /** The fields at fault. */
  get fieldErrors(): readonly FieldError[] {
    return this.problem?.errors ?? [];
  }

  /** The id under which the service logged the request. */
  get requestId(): string | undefined {
    return this.problem?.request_id;
  }
}

export class InvalidInput extends ApiError {}

export class Unauthorized extends ApiError {}

export class Forbidden extends ApiError {}

export class NotFound extends ApiError {}

export class Conflict extends ApiError {}

export class ReviewConflict extends Conflict {
  readonly current: ReviewMoved;

  constructor(status: number, moved: ReviewMoved) {
    super(status, moved);
    this.current = moved;
  }
}

export class Erased extends ApiError {}

export class NotConfigured extends ApiError {}

export class Unavailable extends ApiError {}

const BY_STATUS: Readonly<Record<number, typeof ApiError>> = {
  400: InvalidInput,
  401: Unauthorized,
  403: Forbidden,
  404: NotFound,
  409: Conflict,
  410: Erased,
  413: InvalidInput,
  415: InvalidInput,
  422: InvalidInput,
  429: Unavailable,
  501: NotConfigured,
};

const ADVICE: Readonly<Record<number, string>> = {
  401: "pass apiKey or set TM_API_KEY; the first start of the service prints a key",
};

/** Return the error that a response stands for. */
export function errorOf(status: number, text: string): ApiError {
  const problem = parse(text);
  if (status === 409 && problem !== undefined && ("item" in problem || "decided" in problem)) {
    return new ReviewConflict(status, problem as ReviewMoved);
  }
  const Kind = BY_STATUS[status] ?? (status >= 500 ? Unavailable : ApiError);
  return new Kind(status, problem, text.slice(0, 200));
}

function parse(text: string): Problem | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && "detail" in value ? (value as Problem) : undefined;
  } catch {
    return undefined;
  }
}

function message(status: number, problem: Problem | undefined, fallback: string): string {
  if (problem === undefined) return fallback || `HTTP ${status}: no explanation`;
  const errors = problem.errors ?? [];
  // The detail names the first field and counts the others.
  const lines =
    errors.length > 1 ? [problem.title, ...errors.map((one) => `  ${one.field}: ${one.message}`)] : [problem.detail];
  const advice = ADVICE[status];
  return advice === undefined ? lines.join("\n") : `${lines.join("\n")}\n(${advice})`;
}
