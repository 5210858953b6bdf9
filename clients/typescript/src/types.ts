// Names for the parts of the contract that callers meet.
import type { components, operations } from "./contract.ts";

type Schemas = components["schemas"];
type Query<Id extends keyof operations> = NonNullable<operations[Id]["parameters"]["query"]>;
type Body<Id extends keyof operations> = operations[Id] extends {
  requestBody: { content: { "application/json": infer Sent } };
}
  ? Sent
  : never;

export type Memory = Schemas["Memory"];
export type MemoryType = Memory["type"];
export type QueryResult = Schemas["QueryResult"];
export type Answer = Schemas["AnswerOut"];
export type Profile = Schemas["ProfileOut"];
export type Hit = Schemas["Hit"];
export type Turn = Schemas["TurnOut"];
export type TurnsResult = Schemas["TurnsResult"];
export type WriteResult = Schemas["WriteResult"];
export type BatchResult = Schemas["BatchResult"];
export type History = Schemas["History"];
export type FeedbackResult = Schemas["FeedbackResult"];
export type Receipt = Schemas["ReceiptOut"];
export type Job = Schemas["JobOut"];
export type Entity = Schemas["EntityOut"];
export type EntityDetail = Schemas["EntityDetailOut"];
export type Graph = Schemas["GraphOut"];
export type ReviewItem = Schemas["ReviewItem"];
export type ReviewDetail = Schemas["ReviewDetail"];
export type ReviewOutcome = Schemas["ReviewOutcome"];
export type ReviewUndone = Schemas["ReviewUndoneOut"];
export type ReviewSummary = Schemas["SummaryOut"];
export type ReviewMoved = Schemas["ReviewMoved"];
export type User = Schemas["UserOut"];
export type Agent = Schemas["AgentOut"];
export type Session = Schemas["SessionOut"];
export type WhoAmI = Schemas["WhoAmIOut"];
export type Ready = Schemas["Ready"];
export type Problem = Schemas["Problem"];
export type FieldError = Schemas["FieldError"];

/** One message of a conversation. */
export type Message = Schemas["TurnIn"];
/** A message as chat libraries have it. */
export type ChatMessage = Readonly<Record<string, unknown>>;
export type ReviewerStatement = Schemas["ReviewerStatement"];
export type ReviewAction = Schemas["ReviewAction"];
export type FeedbackKind = Schemas["FeedbackKind"];

/** The fields of a typed write, by its type. */
export type Writes = {
  [Id in keyof operations as Id extends `write_${infer Name}`
    ? Exclude<Name, "batch" | "own_type">
    : never]: Body<Id>;
};
export type TenantTypeWrite = Body<"write_own_type">;
export type BatchItem = Body<"write_batch">["memories"][number];

export type AnswerOptions = Omit<Body<"answer">, "query">;
export type RecallOptions = Omit<Body<"query">, "query" | "messages">;
export type RememberOptions = Omit<Body<"ingest_turns">, "turns" | "messages" | "content">;
export type UpdateOptions = Body<"patch_memory">;
export type FeedbackOptions = Omit<Body<"give_feedback">, "feedback">;

/** Query parameters of the lists; `cursor` is the client's. */
export type ListMemoriesOptions = Omit<Query<"list_memories">, "cursor">;
export type ListSessionOptions = Omit<Query<"list_session">, "cursor">;
export type ListTurnsOptions = Omit<Query<"list_turns">, "cursor">;
export type ListEntitiesOptions = Omit<Query<"list_entities">, "cursor">;
export type ListJobsOptions = Omit<Query<"list_jobs">, "cursor">;
export type ListReviewsOptions = Omit<Query<"list_reviews">, "cursor">;
export type ListUsersOptions = Omit<Query<"list_users">, "cursor">;
export type ListAgentsOptions = Omit<Query<"list_agents">, "cursor">;
export type ListSessionsOptions = Omit<Query<"list_sessions">, "cursor">;
export type GetMemoryOptions = Query<"get_memory">;
export type GetEntityOptions = Query<"get_entity">;
