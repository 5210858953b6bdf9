// Generated from the contract by `npm run generate`: do not edit.
import type { TenantTypeMemory } from "./tenant-types.ts";

export interface paths {
    "/admin/review": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List what waits for a reviewer
         * @description List review items, oldest first by default, each with its conflicting memories and the suggested action.
         *
         *     `next_cursor` is null on the last page.
         */
        get: operations["list_reviews"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/review/summary": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Count what waits
         * @description Count items, by reason and age.
         */
        get: operations["get_review_summary"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/review/{review_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get an item
         * @description Get an item: the memory, its passages, conflicting memories, near-duplicates, and the suggested action.
         *
         *     For an item that has left the queue, `open` is false, and `decided` has the decision and its author.
         */
        get: operations["get_review"];
        put?: never;
        /**
         * Decide an item
         * @description Decide an item.
         *
         *     `accept`: a pending memory goes through the write pipeline, a contested one wins its slot. `reject`: it is
         *     forgotten. `keep_both`: both sides stay, linked and demoted. `supersede_with`: a memory, or a statement, supersedes
         *     the item and all its sides. `merge`: it is merged into a memory that says the same. The named memory or the
         *     statement must have the item's subject. An expired or superseded memory keeps its status when it is accepted, and
         *     only leaves the queue (`outcome` `kept`). `end`: a belief was true until `since`; it leaves its slot as history.
         *     What the user asked to forget (`erasure`) is erased by `accept`, and recalled again after `reject`.
         *
         *     The decision is on the `version` that the reviewer saw. If the item has changed since, nothing is done and the
         *     answer is a 409 with the new state.
         */
        post: operations["decide_review"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/review/{review_id}/undo": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Undo the latest decision on an item
         * @description Undo the latest decision on an item: every memory that it changed is again what it was, and the item waits.
         *
         *     A 409 says why it can't be undone: a memory changed since or holds the slot, or the decision joined memories,
         *     counted as a repetition, or stored a statement.
         */
        post: operations["undo_review"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List agents
         * @description List agents with stored memories or turns, a page at a time; `next_cursor` is null on the last page.
         *
         *     Those of everybody take `all=true`, as nobody is in the global scope; counts are of the scopes that are listed.
         */
        get: operations["list_agents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/answer": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Ask, and get an answer with citations
         * @description Answer a question from memories alone, with the memories that the answer rests on.
         *
         *     Where nothing relevant is remembered, or it does not answer the question, `text` is null and `abstained` says why.
         *     With `Accept: text/event-stream` the memories come first (`recalled`), then the words as the model writes them
         *     (`delta`, each with more `text`), then the whole answer with its citations (`answer`), or a problem (`problem`).
         *     Without a language model the answer is a 501.
         */
        post: operations["answer"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/entities": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List entities
         * @description List entities, a page at a time; `next_cursor` is null on the last page.
         */
        get: operations["list_entities"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/entities/{entity_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get an entity
         * @description Get an entity with its names, its attributes and their former values.
         *
         *     With `known_at`, as it was known then; entities have no validity, so `as_of` has no effect.
         */
        get: operations["get_entity"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/entities/{entity_id}/graph": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the relations around
         * @description Get an entity and the relations around it that active memories state, at `as_of` or `known_at` if given.
         */
        get: operations["get_entity_graph"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/jobs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List jobs
         * @description List jobs, newest first, a page at a time; `next_cursor` is null on the last page.
         */
        get: operations["list_jobs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/jobs/{job_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a job
         * @description Get a job with its progress and its result.
         */
        get: operations["get_job"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/memories": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List memories
         * @description List memories, a page at a time; `next_cursor` is null on the last page.
         *
         *     Active memories that are not valid now are listed with `validity=any`.
         */
        get: operations["list_memories"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/memories/batch": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Write up to a thousand memories
         * @description Write memories of any types, each by itself, and answer in their order.
         *
         *     Each result has a `status`, and the decision or the problem. A batch with a wrong field is refused as a whole,
         *     and one of which nothing could be stored answers with the first problem.
         */
        post: operations["write_batch"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/memories/typed/constraint": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Write a memory of type constraint
         * @description A hard rule that binds someone or something: what they can't, may not or must do, whatever changes around it; never a wish, a habit or a state.
         */
        post: operations["write_constraint"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/memories/typed/control": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Write a memory of type control
         * @description What to avoid: a meta-rule, an error pattern or a boundary of behaviour.
         */
        post: operations["write_control"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/memories/typed/decision": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Write a memory of type decision
         * @description A choice someone made about a piece of work or their life, with its reasons; not a taste or a habit.
         */
        post: operations["write_decision"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/memories/typed/document": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Write a memory of type document
         * @description A section of a document, word for word: what a source says, not what anybody said.
         */
        post: operations["write_document"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/memories/typed/entity": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Write a memory of type entity
         * @description Someone or something with an identity: a person, an organization, a place, a project.
         */
        post: operations["write_entity"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/memories/typed/episodic": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Write a memory of type episodic
         * @description What happened in an interaction, kept in the order of its session.
         */
        post: operations["write_episodic"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/memories/typed/episodic/session/{session_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List a session's episodes in sequence
         * @description List a session's episodes by `sequence_number`, then those without one by the time of statement.
         *
         *     An unknown session has none. `next_cursor` is null on the last page.
         */
        get: operations["list_session"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/memories/typed/event": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Write a memory of type event
         * @description Something that happened at a time, or will; two events never replace one another.
         */
        post: operations["write_event"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/memories/typed/fact": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Write a memory of type fact
         * @description A stable predicate about someone or something, true until it is replaced.
         */
        post: operations["write_fact"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/memories/typed/feature": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Write a memory of type feature
         * @description Whether a feature is done, and what is known about it.
         */
        post: operations["write_feature"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/memories/typed/medication": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Write a memory of type medication
         * @description A medicine that someone takes, with its dosage; never an illness or a wish.
         */
        post: operations["write_medication"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/memories/typed/plan": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Write a memory of type plan
         * @description An intention with a time ahead of it: a trip, a goal, something to be done.
         */
        post: operations["write_plan"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/memories/typed/preference": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Write a memory of type preference
         * @description A choice someone makes and may change: settings, likes, ways of working.
         */
        post: operations["write_preference"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/memories/typed/procedural": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Write a memory of type procedural
         * @description How to do something: a workflow, routine or habit that someone follows, with its steps.
         */
        post: operations["write_procedural"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/memories/typed/progress": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Write a memory of type progress
         * @description How far the work of a session has come.
         */
        post: operations["write_progress"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/memories/typed/reflection": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Write a memory of type reflection
         * @description A lesson learnt from something that went wrong.
         */
        post: operations["write_reflection"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/memories/typed/relation": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Write a memory of type relation
         * @description A typed edge from one named entity to another; where none of the relation types fits, it is a fact.
         */
        post: operations["write_relation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/memories/typed/semantic": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Write a memory of type semantic
         * @description Something known for good, as a sentence; saying it again, or nearly so, merges.
         */
        post: operations["write_semantic"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/memories/typed/standard": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Write a memory of type standard
         * @description Anything worth remembering that no other type fits.
         */
        post: operations["write_standard"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/memories/typed/strategy": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Write a memory of type strategy
         * @description A strategy that worked and is worth using again.
         */
        post: operations["write_strategy"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/memories/typed/transient_state": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Write a memory of type transient_state
         * @description A condition that will pass within days yet matters until then; never a mood of the moment.
         */
        post: operations["write_transient_state"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/memories/typed/{type}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Write a memory of a type of your own
         * @description Write a memory of a type of your own, by the latest version of its definition.
         *
         *     Its fields are in `payload`. The other fields are those of built-in types.
         */
        post: operations["write_own_type"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/memories/{memory_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a memory
         * @description Get a memory of any status; 404 if it was not known at `known_at`, or not valid at `as_of`.
         */
        get: operations["get_memory"];
        put?: never;
        post?: never;
        /**
         * Erase a memory
         * @description Erase a memory and all rows derived from it, and answer with a receipt.
         *
         *     A turn that no other memory rests on is erased with it. A turn that others rest on loses the sentences that say it,
         *     and can't be replayed; so do the memories that keep this turn word for word. `kept` names the others: they may say
         *     the same, and stay. `turns` names the turns that still hold its words: sent with `with_turns=true`, the request
         *     erases these turns, too.
         */
        delete: operations["delete_memory"];
        options?: never;
        head?: never;
        /**
         * Change what is not the belief itself
         * @description Change importance, topic, category, metadata, end of validity or the review mark.
         *
         *     `needs_review=false` removes only a mark that `needs_review=true` set; others are decided by a reviewer, and
         *     answer 409. So does a later end for a memory that was superseded or has ended, and any change of a forgotten
         *     memory.
         */
        patch: operations["patch_memory"];
        trace?: never;
    };
    "/memories/{memory_id}/feedback": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Say that a memory was useful, not useful or wrong
         * @description Give feedback on a memory.
         *
         *     `useful` counts as a use, now: freshness is `2^(-days since the last use / half-life) x min(3, 1.2^uses)`. An
         *     expired memory that this makes fresher than 0.1 is active again, unless its validity has ended or another memory
         *     holds its slot. `not_useful` revokes the last use: one less of the uses counts (of six at most), the last use is
         *     again the one before, and stability loses 0.1. `wrong` takes an active memory out of recall and into review
         *     (`status=pending`, `review_reason=reported_wrong`); a superseded or expired one keeps its status and is marked for
         *     review; one in review stays there. A forgotten memory answers 409.
         */
        post: operations["give_feedback"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/memories/{memory_id}/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get every version of a belief and what happened to it
         * @description Get every version of a belief, oldest statement first, and their audit events.
         *
         *     With `as_of`, only versions that were valid then; with `known_at`, the history as it was known then.
         */
        get: operations["get_memory_history"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/query": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Ask, and get memories, context and reasons
         * @description Understand the question, retrieve memories under its filters, rank them, and assemble the context block.
         */
        post: operations["query"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/readyz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Can it serve requests?
         * @description Check the database, its schema and the embedding model, and the age of the job queue.
         *
         *     With an old queue the service is degraded but ready, as requests are served normally. A process that is about to
         *     stop is not ready, and still serves requests.
         */
        get: operations["readyz"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List sessions
         * @description List the sessions that memories come from, a page at a time; `next_cursor` is null on the last page.
         */
        get: operations["list_sessions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/turns": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List turns
         * @description List turns, newest first; `status=extraction_failed` lists those to check and replay.
         */
        get: operations["list_turns"];
        put?: never;
        /**
         * Ingest turns
         * @description Store turns and extract memories from them.
         *
         *     By default the answer comes as soon as the turns are durable, with the job that processes them. With
         *     `mode=sync` it has every decision. Nothing is lost when a model is unavailable: the turns are stored and a
         *     job retries, also after `mode=sync`.
         */
        post: operations["ingest_turns"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/turns/{turn_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a turn and its report
         * @description Get a turn with the decision on each candidate and the counts of each stage.
         */
        get: operations["get_turn"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/users": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List users
         * @description List users with stored memories or turns, a page at a time; `next_cursor` is null on the last page.
         *
         *     Those of everybody take `all=true`, as nobody is in the global scope; counts are of the scopes that are listed.
         */
        get: operations["list_users"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/users/{user_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Erase everything of a user
         * @description Erase a user's scope and every agent's scope with the user: memories, turns, entities, and all derived rows.
         *
         *     Memories and turns of other scopes that name the user are erased too: those sent with the `user_id` for
         *     everyone. Answers 200 with the receipt, or 202 with a job for a user with many memories. Writes to the user's scopes
         *     before the receipt's `finished_at` are erased with the rest. Sent again, it completes an interrupted erasure.
         */
        delete: operations["delete_user"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/users/{user_id}/profile": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get what holds of a user
         * @description Get a block for the head of a prompt: who the user is, constraints, preferences, and what is current.
         *
         *     It needs no question and no model. Global memories don't belong to it. A user who is not known has an empty one.
         */
        get: operations["get_profile"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/whoami": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the tenant and the roles of the key
         * @description Get the tenant and the roles of the key that the request carries.
         */
        get: operations["who_am_i"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /**
         * AffectedOut
         * @description Another memory that a write changed, and the change.
         */
        AffectedOut: {
            /** Change */
            change: string;
            /** Memory Id */
            memory_id: string;
        };
        /**
         * AgentOut
         * @description An agent.
         */
        AgentOut: {
            /** Active */
            active: number;
            /** Agent Id */
            agent_id: string;
            /**
             * Last Active At
             * @description Time of the last write of a memory, an import included, or of the last turn.
             */
            last_active_at: string | null;
            /**
             * Memories
             * @description Of every status.
             */
            memories: number;
            /** Turns */
            turns: number;
            /**
             * Waiting
             * @description Memories that wait for a reviewer.
             */
            waiting: number;
        };
        /**
         * AgentPage
         * @description Some agents, in the order of their ids.
         */
        AgentPage: {
            /** Agents */
            agents: components["schemas"]["AgentOut"][];
            /** Next Cursor */
            next_cursor: string | null;
        };
        /**
         * AgesOut
         * @description Numbers of items by age.
         */
        AgesOut: {
            /** A Day To A Week */
            a_day_to_a_week: number;
            /** A Week To A Month */
            a_week_to_a_month: number;
            /** Over A Month */
            over_a_month: number;
            /** Under A Day */
            under_a_day: number;
        };
        /**
         * AnswerBody
         * @description A question to answer from memories.
         * @example {
         *       "query": "Where does Ana live?",
         *       "user_id": "ana"
         *     }
         */
        AnswerBody: {
            /**
             * Agent Id
             * @description Your id of the agent: what is stored is that agent's, what is asked or listed is what it may see.
             */
            agent_id?: string | null;
            /**
             * As Of
             * @description What was true then, as far as it is known: only memories that held at this time, whether or not they still do. Replaced ones held until what replaced them began.
             */
            as_of?: string | null;
            /**
             * Known At
             * @description What was believed then: the answer this request had at that time. Nothing recorded, replaced, merged or changed later shows. What was erased since is gone from the past too.
             */
            known_at?: string | null;
            /**
             * Metadata
             * @description Only memories whose metadata contain this JSON object.
             * @example {
             *       "project": "atlas"
             *     }
             */
            metadata?: {
                [key: string]: unknown;
            };
            /**
             * Min Confidence
             * @description Only what is trusted this far; by default .5, in other modes than `default` .3.
             */
            min_confidence?: number | null;
            /**
             * Min Relevance
             * @description Only what is this relevant; by default the floors of the embedding model.
             */
            min_relevance?: number | null;
            /** @description By default as the question sounds. */
            mode?: components["schemas"]["QueryMode"] | null;
            /**
             * Now
             * @description Reference time of `yesterday`; by default `known_at`, else the present.
             */
            now?: string | null;
            /**
             * Query
             * @description In plain words, as a person would ask.
             * @example Where does Ana live?
             */
            query: string;
            /**
             * Recent Turns
             * @description Last turns of the session that asks to leave out, as the prompt has them; 0 brings them back.
             * @default 20
             */
            recent_turns?: number;
            /**
             * Session Id
             * @description The conversation that asks. What is used in many counts for more, and its last `recent_turns` turns, which the caller still has, are left out.
             */
            session_id?: string | null;
            /**
             * Tags
             * @description Only memories with all of these in the list `tags` of their metadata.
             */
            tags?: string[];
            /**
             * Timezone
             * @description The IANA zone in which times without an offset, and words like `yesterday`, are read; UTC by default.
             */
            timezone?: string | null;
            /**
             * Top K
             * @description Most memories to return.
             * @default 12
             */
            top_k?: number;
            /**
             * Topic
             * @description Only what is filed under this, in any letter case.
             */
            topic?: string | null;
            /**
             * Types
             * @description Only these; all by default.
             */
            types?: string[];
            /**
             * User Id
             * @description Your id of the user: what is stored is that user's, what is asked or listed is what they may see.
             */
            user_id?: string | null;
        };
        /**
         * AnswerOut
         * @description An answer, and the memories that it rests on; without one, `abstained` says why.
         */
        AnswerOut: {
            /** Abstained */
            abstained: string | null;
            /** Citations */
            citations: components["schemas"]["RecalledMemoryOut"][];
            /** Model */
            model: string;
            /** Text */
            text: string | null;
        };
        /**
         * AppliedInstructionsOut
         * @description The instructions that turns are extracted by: the tenant's, then the request's.
         */
        AppliedInstructionsOut: {
            /**
             * Exclude
             * @description What either excludes.
             */
            exclude: string[];
            /** Include */
            include: string[];
            /**
             * Instructions
             * @description In plain words, one after another.
             */
            instructions: string[];
            /**
             * Named
             * @description Those of `exclude` that name a memory type or a predicate, and so hold whatever is proposed.
             */
            named: string[];
            /**
             * Told
             * @description The text that the language model is shown below its fixed instructions; null for the built-in rules, which read no words.
             */
            told: string | null;
        };
        /**
         * ArmOut
         * @description The rank of a memory in a retrieval arm.
         */
        ArmOut: {
            /** Arm */
            arm: string;
            /** Contribution */
            contribution: number;
            /** Rank */
            rank: number;
            /** Scaled */
            scaled: number;
            /** Score */
            score: number;
        };
        /**
         * AuditEvent
         * @description An audit event: `sentence` describes it for people, `detail` has its ids and numbers.
         */
        AuditEvent: {
            /** Action */
            action: string;
            /** Actor */
            actor: string;
            /**
             * At
             * Format: date-time
             */
            at: string;
            /** Detail */
            detail: {
                [key: string]: unknown;
            };
            /** Id */
            id: string;
            /** Memory Id */
            memory_id: string | null;
            /**
             * Redacted
             * @description The detail was emptied by an erasure.
             */
            redacted: boolean;
            /** Sentence */
            sentence: string;
        };
        /**
         * BatchItem
         * @description One item's outcome.
         */
        BatchItem: {
            /** Affected */
            affected?: components["schemas"]["AffectedOut"][];
            decision?: components["schemas"]["WriteDecision"] | null;
            /** Index */
            index: number;
            memory?: components["schemas"]["Memory"] | null;
            problem?: components["schemas"]["Problem"] | null;
            /** Reason */
            reason?: string | null;
            /** Status */
            status: number;
        };
        /**
         * BatchResult
         * @description Outcomes in the order of the batch.
         */
        BatchResult: {
            /** Results */
            results: components["schemas"]["BatchItem"][];
        };
        /**
         * BatchWrite
         * @description Up to a thousand typed writes.
         * @example {
         *       "memories": [
         *         {
         *           "predicate": "may-not-use",
         *           "rule": "external APIs, due to compliance requirements",
         *           "severity": "high",
         *           "subject": "user",
         *           "type": "constraint",
         *           "user_id": "ana"
         *         },
         *         {
         *           "content": "Never use range() for unknown-length pagination",
         *           "error_pattern": "pagination_incomplete",
         *           "severity": "high",
         *           "type": "control",
         *           "user_id": "ana"
         *         }
         *       ]
         *     }
         */
        BatchWrite: {
            /** Memories */
            memories: ((components["schemas"]["ConstraintItem"] | components["schemas"]["ControlItem"] | components["schemas"]["DecisionItem"] | components["schemas"]["DocumentItem"] | components["schemas"]["EntityItem"] | components["schemas"]["EpisodicItem"] | components["schemas"]["EventItem"] | components["schemas"]["FactItem"] | components["schemas"]["FeatureItem"] | components["schemas"]["MedicationItem"] | components["schemas"]["PlanItem"] | components["schemas"]["PreferenceItem"] | components["schemas"]["ProceduralItem"] | components["schemas"]["ProgressItem"] | components["schemas"]["ReflectionItem"] | components["schemas"]["RelationItem"] | components["schemas"]["SemanticItem"] | components["schemas"]["StandardItem"] | components["schemas"]["StrategyItem"] | components["schemas"]["TransientStateItem"]) | components["schemas"]["TenantTypeItem"])[];
        };
        /**
         * CandidateOut
         * @description A candidate of a turn, the decision on it, and the reason.
         */
        CandidateOut: {
            /** Affected */
            affected: components["schemas"]["AffectedOut"][];
            /** Confidence */
            confidence: number | null;
            /** Content */
            content: string | null;
            decision: components["schemas"]["WriteDecision"];
            /** Memory Id */
            memory_id: string | null;
            /**
             * Quote
             * @description The words of the turn it relies on; null for the turn itself.
             */
            quote: string | null;
            /** Reason */
            reason: string;
            speech_act: components["schemas"]["SpeechAct"];
            /** Type */
            type: string;
        };
        /**
         * Category
         * @description The category of a memory, which determines how it fades, independent of its type.
         * @enum {string}
         */
        Category: "episodic" | "semantic" | "procedural" | "core" | "control";
        /**
         * ChatMessageIn
         * @description A message in the shape of OpenAI, Anthropic or LangChain, with the fields that these give it.
         * @example {
         *       "content": [
         *         {
         *           "text": "I moved to Berlin.",
         *           "type": "text"
         *         }
         *       ],
         *       "role": "user"
         *     }
         */
        ChatMessageIn: {
            [key: string]: unknown;
        };
        /**
         * ConfidencePartsOut
         * @description The components of confidence.
         */
        ConfidencePartsOut: {
            /** Extractor Confidence */
            extractor_confidence: number;
            /** Mentions */
            mentions: number;
            /** Repetition */
            repetition: number;
            /** Source Strength */
            source_strength: number;
            /** Type Prior */
            type_prior: number;
        };
        /**
         * ConstraintItem
         * @description A hard rule that binds someone or something: what they can't, may not or must do, whatever changes around it; never a wish, a habit or a state.
         * @example {
         *       "predicate": "may-not-use",
         *       "rule": "external APIs, due to compliance requirements",
         *       "severity": "high",
         *       "subject": "user",
         *       "type": "constraint",
         *       "user_id": "ana"
         *     }
         */
        ConstraintItem: {
            /**
             * Agent Id
             * @description Your id of the agent: what is stored is that agent's, what is asked or listed is what it may see.
             */
            agent_id?: string | null;
            /** @description The category; by default the type's. */
            category?: components["schemas"]["Category"] | null;
            /**
             * Content
             * @description The sentence to remember, instead of one made from the fields.
             */
            content?: string | null;
            /**
             * Context
             * @description The text just before it: searched, never shown.
             */
            context?: string | null;
            /**
             * Ends
             * @description This is no longer so: nothing is stored, and what is held so ends, `valid_until` saying when (by default, when it is stated; what ends later holds until then). Answered with `ended`, or why nothing ended. For types that hold values.
             * @default false
             */
            ends?: boolean;
            /** Evidence */
            evidence?: components["schemas"]["EvidenceIn"][];
            /**
             * Evidence Turn Id
             * @description Short for evidence with just a turn_id.
             */
            evidence_turn_id?: string | null;
            /**
             * Extractor Confidence
             * @description Confidence of the extraction.
             */
            extractor_confidence?: number | null;
            /**
             * Importance
             * @description The importance, from 0 to 1, independent of confidence; by default the type's.
             */
            importance?: number | null;
            /**
             * Metadata
             * @description Anything else; questions and lists can filter by it.
             */
            metadata?: {
                [key: string]: unknown;
            };
            /**
             * Occurred At
             * @description When it was stated; now by default. A later statement replaces an earlier.
             */
            occurred_at?: string | null;
            /**
             * Predicate
             * @description What it is about, hyphenated: `may-not-` what it forbids, `may-` what it allows, `must-` what it demands. `cannot use`, `must not use` and `is not allowed to use` are kept as `may-not-use`, and so is `may use` with a rule that begins with `no`.
             * @example may-not-use
             */
            predicate: string;
            /**
             * Provenance
             * @description Your own record of the memory's origin.
             */
            provenance?: {
                [key: string]: unknown;
            };
            /**
             * Rule
             * @description What is forbidden, allowed or demanded.
             * @example external APIs, for compliance
             */
            rule: string;
            /** @description Who sees it: everyone of the tenant, one user, or one agent. By default, with `user_id` that user's, whichever agent it was, unless the type's own scope is the agent; with `agent_id` alone that agent's, unless the type's own scope is global; with neither, global. */
            scope?: components["schemas"]["ScopeKind"] | null;
            /**
             * Sequence Number
             * @description Its place in the session.
             */
            sequence_number?: number | null;
            /**
             * Session Id
             * @description Your id of the conversation.
             */
            session_id?: string | null;
            /**
             * Severity
             * @description How bad it is when it is not kept to.
             * @default high
             * @enum {string}
             */
            severity?: "low" | "medium" | "high" | "critical";
            /**
             * Source Confidence
             * @description The source strength.
             */
            source_confidence?: number | null;
            /**
             * @description The speech act; only an assertion can become an active belief.
             * @default assertion
             */
            speech_act?: components["schemas"]["SpeechAct"];
            /**
             * Subject
             * @description Whom or what the rule binds.
             * @default user
             */
            subject?: string;
            /**
             * Timezone
             * @description Where times without an offset are read.
             */
            timezone?: string | null;
            /**
             * Topic
             * @description A topic of your own choice, to filter by.
             */
            topic?: string | null;
            /**
             * Ttl Seconds
             * @description Instead of valid_until: how long it is true, in seconds from valid_from, or else from when it was stated.
             */
            ttl_seconds?: number | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "constraint";
            /**
             * User Id
             * @description Your id of the user: what is stored is that user's, what is asked or listed is what they may see.
             */
            user_id?: string | null;
            /**
             * Valid From
             * @description Since when it is true.
             */
            valid_from?: string | null;
            /**
             * Valid Until
             * @description Until when it is true. What repeats a memory, and was not stated before it, moves its end; without one it leaves it as it is.
             */
            valid_until?: string | null;
        };
        /**
         * ConstraintMemory
         * @description A hard rule that binds someone or something: what they can't, may not or must do, whatever changes around it; never a wish, a habit or a state.
         */
        ConstraintMemory: {
            /**
             * Access Count
             * @description Uses that count: what `not_useful` took back is not among them.
             */
            access_count: number;
            /** Agent Id */
            agent_id: string | null;
            category: components["schemas"]["Category"];
            /** Confidence */
            confidence: number;
            confidence_parts: components["schemas"]["ConfidencePartsOut"];
            /** Content */
            content: string;
            /** Contested */
            contested: boolean;
            /**
             * Distinct Sessions
             * @description Sessions it was used in, as far as they are kept (16).
             */
            distinct_sessions: number;
            /** Evidence */
            evidence: components["schemas"]["EvidenceOut"][];
            /** Freshness */
            freshness: number;
            /**
             * Id
             * @example mem_0198c5a2f0a87b3c9d2e4f6a8b0c1d2e
             */
            id: string;
            /** Importance */
            importance: number;
            /** Last Accessed At */
            last_accessed_at: string | null;
            /** Links */
            links: components["schemas"]["LinkOut"][];
            /** Metadata */
            metadata: {
                [key: string]: unknown;
            };
            /** Needs Review */
            needs_review: boolean;
            /** Not Useful Count */
            not_useful_count: number;
            /**
             * Occurred At
             * Format: date-time
             * @description When it was said, by the latest that said so.
             */
            occurred_at: string;
            /**
             * Predicate
             * @description What it is about, hyphenated: `may-not-` what it forbids, `may-` what it allows, `must-` what it demands. `cannot use`, `must not use` and `is not allowed to use` are kept as `may-not-use`, and so is `may use` with a rule that begins with `no`.
             * @example may-not-use
             */
            predicate: string;
            /** Provenance */
            provenance: {
                [key: string]: unknown;
            };
            /**
             * Recorded At
             * Format: date-time
             */
            recorded_at: string;
            /** Retired At */
            retired_at: string | null;
            review_reason: components["schemas"]["ReviewReason"] | null;
            /**
             * Rule
             * @description What is forbidden, allowed or demanded.
             * @example external APIs, for compliance
             */
            rule: string;
            scope: components["schemas"]["ScopeKind"];
            /** Sequence Number */
            sequence_number: number | null;
            /** Session Id */
            session_id: string | null;
            /**
             * Severity
             * @description How bad it is when it is not kept to.
             * @default high
             * @enum {string}
             */
            severity?: "low" | "medium" | "high" | "critical";
            /**
             * Slot
             * @description The key under which only one value can be true at a time.
             */
            slot: string | null;
            speech_act: components["schemas"]["SpeechAct"];
            /**
             * Stability
             * @description From 0 to 1: grows with uses that lie days apart.
             */
            stability: number;
            status: components["schemas"]["MemoryStatus"];
            /**
             * Subject
             * @description Whom or what the rule binds.
             * @default user
             */
            subject?: string;
            /** Superseded By */
            superseded_by: string | null;
            /** Supersedes */
            supersedes: string | null;
            /** Topic */
            topic: string | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "constraint";
            /** Useful Count */
            useful_count: number;
            /** User Id */
            user_id: string | null;
            /**
             * Valid From
             * Format: date-time
             */
            valid_from: string;
            /** Valid Until */
            valid_until: string | null;
            /** Wrong Count */
            wrong_count: number;
        };
        /**
         * ConstraintWrite
         * @description A hard rule that binds someone or something: what they can't, may not or must do, whatever changes around it; never a wish, a habit or a state.
         * @example {
         *       "predicate": "may-not-use",
         *       "rule": "external APIs, due to compliance requirements",
         *       "severity": "high",
         *       "subject": "user",
         *       "user_id": "ana"
         *     }
         */
        ConstraintWrite: {
            /**
             * Agent Id
             * @description Your id of the agent: what is stored is that agent's, what is asked or listed is what it may see.
             */
            agent_id?: string | null;
            /** @description The category; by default the type's. */
            category?: components["schemas"]["Category"] | null;
            /**
             * Content
             * @description The sentence to remember, instead of one made from the fields.
             */
            content?: string | null;
            /**
             * Context
             * @description The text just before it: searched, never shown.
             */
            context?: string | null;
            /**
             * Ends
             * @description This is no longer so: nothing is stored, and what is held so ends, `valid_until` saying when (by default, when it is stated; what ends later holds until then). Answered with `ended`, or why nothing ended. For types that hold values.
             * @default false
             */
            ends?: boolean;
            /** Evidence */
            evidence?: components["schemas"]["EvidenceIn"][];
            /**
             * Evidence Turn Id
             * @description Short for evidence with just a turn_id.
             */
            evidence_turn_id?: string | null;
            /**
             * Extractor Confidence
             * @description Confidence of the extraction.
             */
            extractor_confidence?: number | null;
            /**
             * Importance
             * @description The importance, from 0 to 1, independent of confidence; by default the type's.
             */
            importance?: number | null;
            /**
             * Metadata
             * @description Anything else; questions and lists can filter by it.
             */
            metadata?: {
                [key: string]: unknown;
            };
            /**
             * Occurred At
             * @description When it was stated; now by default. A later statement replaces an earlier.
             */
            occurred_at?: string | null;
            /**
             * Predicate
             * @description What it is about, hyphenated: `may-not-` what it forbids, `may-` what it allows, `must-` what it demands. `cannot use`, `must not use` and `is not allowed to use` are kept as `may-not-use`, and so is `may use` with a rule that begins with `no`.
             * @example may-not-use
             */
            predicate: string;
            /**
             * Provenance
             * @description Your own record of the memory's origin.
             */
            provenance?: {
                [key: string]: unknown;
            };
            /**
             * Rule
             * @description What is forbidden, allowed or demanded.
             * @example external APIs, for compliance
             */
            rule: string;
            /** @description Who sees it: everyone of the tenant, one user, or one agent. By default, with `user_id` that user's, whichever agent it was, unless the type's own scope is the agent; with `agent_id` alone that agent's, unless the type's own scope is global; with neither, global. */
            scope?: components["schemas"]["ScopeKind"] | null;
            /**
             * Sequence Number
             * @description Its place in the session.
             */
            sequence_number?: number | null;
            /**
             * Session Id
             * @description Your id of the conversation.
             */
            session_id?: string | null;
            /**
             * Severity
             * @description How bad it is when it is not kept to.
             * @default high
             * @enum {string}
             */
            severity?: "low" | "medium" | "high" | "critical";
            /**
             * Source Confidence
             * @description The source strength.
             */
            source_confidence?: number | null;
            /**
             * @description The speech act; only an assertion can become an active belief.
             * @default assertion
             */
            speech_act?: components["schemas"]["SpeechAct"];
            /**
             * Subject
             * @description Whom or what the rule binds.
             * @default user
             */
            subject?: string;
            /**
             * Timezone
             * @description Where times without an offset are read.
             */
            timezone?: string | null;
            /**
             * Topic
             * @description A topic of your own choice, to filter by.
             */
            topic?: string | null;
            /**
             * Ttl Seconds
             * @description Instead of valid_until: how long it is true, in seconds from valid_from, or else from when it was stated.
             */
            ttl_seconds?: number | null;
            /**
             * Type
             * @description May be left out: the route says it.
             */
            type?: "constraint" | null;
            /**
             * User Id
             * @description Your id of the user: what is stored is that user's, what is asked or listed is what they may see.
             */
            user_id?: string | null;
            /**
             * Valid From
             * @description Since when it is true.
             */
            valid_from?: string | null;
            /**
             * Valid Until
             * @description Until when it is true. What repeats a memory, and was not stated before it, moves its end; without one it leaves it as it is.
             */
            valid_until?: string | null;
        };
        /**
         * ContextOut
         * @description The context block for a prompt; its `groups` are details.
         */
        ContextOut: {
            /** Groups */
            groups: components["schemas"]["GroupOut"][];
            /** Text */
            text: string;
            /** Tokens */
            tokens: number;
        };
        /**
         * ControlItem
         * @description What to avoid: a meta-rule, an error pattern or a boundary of behaviour.
         * @example {
         *       "content": "Never use range() for unknown-length pagination",
         *       "error_pattern": "pagination_incomplete",
         *       "severity": "high",
         *       "type": "control",
         *       "user_id": "ana"
         *     }
         */
        ControlItem: {
            /**
             * Agent Id
             * @description Your id of the agent: what is stored is that agent's, what is asked or listed is what it may see.
             */
            agent_id?: string | null;
            /** @description The category; by default the type's. */
            category?: components["schemas"]["Category"] | null;
            /**
             * Content
             * @description What to avoid, or what must hold.
             */
            content: string;
            /**
             * Context
             * @description The text just before it: searched, never shown.
             */
            context?: string | null;
            /**
             * Ends
             * @description This is no longer so: nothing is stored, and what is held so ends, `valid_until` saying when (by default, when it is stated; what ends later holds until then). Answered with `ended`, or why nothing ended. For types that hold values.
             * @default false
             */
            ends?: boolean;
            /**
             * Error Pattern
             * @description The kind of error.
             * @example pagination_incomplete
             */
            error_pattern?: string | null;
            /** Evidence */
            evidence?: components["schemas"]["EvidenceIn"][];
            /**
             * Evidence Turn Id
             * @description Short for evidence with just a turn_id.
             */
            evidence_turn_id?: string | null;
            /**
             * Extractor Confidence
             * @description Confidence of the extraction.
             */
            extractor_confidence?: number | null;
            /**
             * Importance
             * @description The importance, from 0 to 1, independent of confidence; by default the type's.
             */
            importance?: number | null;
            /**
             * Metadata
             * @description Anything else; questions and lists can filter by it.
             */
            metadata?: {
                [key: string]: unknown;
            };
            /**
             * Occurred At
             * @description When it was stated; now by default. A later statement replaces an earlier.
             */
            occurred_at?: string | null;
            /**
             * Provenance
             * @description Your own record of the memory's origin.
             */
            provenance?: {
                [key: string]: unknown;
            };
            /** @description Who sees it: everyone of the tenant, one user, or one agent. By default, with `user_id` that user's, whichever agent it was, unless the type's own scope is the agent; with `agent_id` alone that agent's, unless the type's own scope is global; with neither, global. */
            scope?: components["schemas"]["ScopeKind"] | null;
            /**
             * Sequence Number
             * @description Its place in the session.
             */
            sequence_number?: number | null;
            /**
             * Session Id
             * @description Your id of the conversation.
             */
            session_id?: string | null;
            /**
             * Severity
             * @description How bad it is when it is not kept to.
             */
            severity?: ("low" | "medium" | "high" | "critical") | null;
            /**
             * Source Confidence
             * @description The source strength.
             */
            source_confidence?: number | null;
            /**
             * Source Trajectory Id
             * @description The run that taught it.
             */
            source_trajectory_id?: string | null;
            /**
             * @description The speech act; only an assertion can become an active belief.
             * @default assertion
             */
            speech_act?: components["schemas"]["SpeechAct"];
            /**
             * Timezone
             * @description Where times without an offset are read.
             */
            timezone?: string | null;
            /**
             * Topic
             * @description A topic of your own choice, to filter by.
             */
            topic?: string | null;
            /**
             * Ttl Seconds
             * @description Instead of valid_until: how long it is true, in seconds from valid_from, or else from when it was stated.
             */
            ttl_seconds?: number | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "control";
            /**
             * User Id
             * @description Your id of the user: what is stored is that user's, what is asked or listed is what they may see.
             */
            user_id?: string | null;
            /**
             * Valid From
             * @description Since when it is true.
             */
            valid_from?: string | null;
            /**
             * Valid Until
             * @description Until when it is true. What repeats a memory, and was not stated before it, moves its end; without one it leaves it as it is.
             */
            valid_until?: string | null;
        };
        /**
         * ControlMemory
         * @description What to avoid: a meta-rule, an error pattern or a boundary of behaviour.
         */
        ControlMemory: {
            /**
             * Access Count
             * @description Uses that count: what `not_useful` took back is not among them.
             */
            access_count: number;
            /** Agent Id */
            agent_id: string | null;
            category: components["schemas"]["Category"];
            /** Confidence */
            confidence: number;
            confidence_parts: components["schemas"]["ConfidencePartsOut"];
            /**
             * Content
             * @description What to avoid, or what must hold.
             */
            content: string;
            /** Contested */
            contested: boolean;
            /**
             * Distinct Sessions
             * @description Sessions it was used in, as far as they are kept (16).
             */
            distinct_sessions: number;
            /**
             * Error Pattern
             * @description The kind of error.
             * @example pagination_incomplete
             */
            error_pattern?: string | null;
            /** Evidence */
            evidence: components["schemas"]["EvidenceOut"][];
            /** Freshness */
            freshness: number;
            /**
             * Id
             * @example mem_0198c5a2f0a87b3c9d2e4f6a8b0c1d2e
             */
            id: string;
            /** Importance */
            importance: number;
            /** Last Accessed At */
            last_accessed_at: string | null;
            /** Links */
            links: components["schemas"]["LinkOut"][];
            /** Metadata */
            metadata: {
                [key: string]: unknown;
            };
            /** Needs Review */
            needs_review: boolean;
            /** Not Useful Count */
            not_useful_count: number;
            /**
             * Occurred At
             * Format: date-time
             * @description When it was said, by the latest that said so.
             */
            occurred_at: string;
            /** Provenance */
            provenance: {
                [key: string]: unknown;
            };
            /**
             * Recorded At
             * Format: date-time
             */
            recorded_at: string;
            /** Retired At */
            retired_at: string | null;
            review_reason: components["schemas"]["ReviewReason"] | null;
            scope: components["schemas"]["ScopeKind"];
            /** Sequence Number */
            sequence_number: number | null;
            /** Session Id */
            session_id: string | null;
            /**
             * Severity
             * @description How bad it is when it is not kept to.
             */
            severity?: ("low" | "medium" | "high" | "critical") | null;
            /**
             * Slot
             * @description The key under which only one value can be true at a time.
             */
            slot: string | null;
            /**
             * Source Trajectory Id
             * @description The run that taught it.
             */
            source_trajectory_id?: string | null;
            speech_act: components["schemas"]["SpeechAct"];
            /**
             * Stability
             * @description From 0 to 1: grows with uses that lie days apart.
             */
            stability: number;
            status: components["schemas"]["MemoryStatus"];
            /** Subject */
            subject: string | null;
            /** Superseded By */
            superseded_by: string | null;
            /** Supersedes */
            supersedes: string | null;
            /** Topic */
            topic: string | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "control";
            /** Useful Count */
            useful_count: number;
            /** User Id */
            user_id: string | null;
            /**
             * Valid From
             * Format: date-time
             */
            valid_from: string;
            /** Valid Until */
            valid_until: string | null;
            /** Wrong Count */
            wrong_count: number;
        };
        /**
         * ControlWrite
         * @description What to avoid: a meta-rule, an error pattern or a boundary of behaviour.
         * @example {
         *       "content": "Never use range() for unknown-length pagination",
         *       "error_pattern": "pagination_incomplete",
         *       "severity": "high",
         *       "user_id": "ana"
         *     }
         */
        ControlWrite: {
            /**
             * Agent Id
             * @description Your id of the agent: what is stored is that agent's, what is asked or listed is what it may see.
             */
            agent_id?: string | null;
            /** @description The category; by default the type's. */
            category?: components["schemas"]["Category"] | null;
            /**
             * Content
             * @description What to avoid, or what must hold.
             */
            content: string;
            /**
             * Context
             * @description The text just before it: searched, never shown.
             */
            context?: string | null;
            /**
             * Ends
             * @description This is no longer so: nothing is stored, and what is held so ends, `valid_until` saying when (by default, when it is stated; what ends later holds until then). Answered with `ended`, or why nothing ended. For types that hold values.
             * @default false
             */
            ends?: boolean;
            /**
             * Error Pattern
             * @description The kind of error.
             * @example pagination_incomplete
             */
            error_pattern?: string | null;
            /** Evidence */
            evidence?: components["schemas"]["EvidenceIn"][];
            /**
             * Evidence Turn Id
             * @description Short for evidence with just a turn_id.
             */
            evidence_turn_id?: string | null;
            /**
             * Extractor Confidence
             * @description Confidence of the extraction.
             */
            extractor_confidence?: number | null;
            /**
             * Importance
             * @description The importance, from 0 to 1, independent of confidence; by default the type's.
             */
            importance?: number | null;
            /**
             * Metadata
             * @description Anything else; questions and lists can filter by it.
             */
            metadata?: {
                [key: string]: unknown;
            };
            /**
             * Occurred At
             * @description When it was stated; now by default. A later statement replaces an earlier.
             */
            occurred_at?: string | null;
            /**
             * Provenance
             * @description Your own record of the memory's origin.
             */
            provenance?: {
                [key: string]: unknown;
            };
            /** @description Who sees it: everyone of the tenant, one user, or one agent. By default, with `user_id` that user's, whichever agent it was, unless the type's own scope is the agent; with `agent_id` alone that agent's, unless the type's own scope is global; with neither, global. */
            scope?: components["schemas"]["ScopeKind"] | null;
            /**
             * Sequence Number
             * @description Its place in the session.
             */
            sequence_number?: number | null;
            /**
             * Session Id
             * @description Your id of the conversation.
             */
            session_id?: string | null;
            /**
             * Severity
             * @description How bad it is when it is not kept to.
             */
            severity?: ("low" | "medium" | "high" | "critical") | null;
            /**
             * Source Confidence
             * @description The source strength.
             */
            source_confidence?: number | null;
            /**
             * Source Trajectory Id
             * @description The run that taught it.
             */
            source_trajectory_id?: string | null;
            /**
             * @description The speech act; only an assertion can become an active belief.
             * @default assertion
             */
            speech_act?: components["schemas"]["SpeechAct"];
            /**
             * Timezone
             * @description Where times without an offset are read.
             */
            timezone?: string | null;
            /**
             * Topic
             * @description A topic of your own choice, to filter by.
             */
            topic?: string | null;
            /**
             * Ttl Seconds
             * @description Instead of valid_until: how long it is true, in seconds from valid_from, or else from when it was stated.
             */
            ttl_seconds?: number | null;
            /**
             * Type
             * @description May be left out: the route says it.
             */
            type?: "control" | null;
            /**
             * User Id
             * @description Your id of the user: what is stored is that user's, what is asked or listed is what they may see.
             */
            user_id?: string | null;
            /**
             * Valid From
             * @description Since when it is true.
             */
            valid_from?: string | null;
            /**
             * Valid Until
             * @description Until when it is true. What repeats a memory, and was not stated before it, moves its end; without one it leaves it as it is.
             */
            valid_until?: string | null;
        };
        /**
         * DecideBody
         * @description A decision, and the version of the item that the reviewer saw.
         * @example {
         *       "action": "accept",
         *       "reason": "seen the contract",
         *       "version": "984c74443316f9a2fa973356376c6180"
         *     }
         */
        DecideBody: {
            action: components["schemas"]["ReviewAction"];
            /**
             * Reason
             * @description Kept in the audit log.
             */
            reason?: string | null;
            /**
             * Reviewer
             * @description The person, where several share a key; kept in the audit log.
             */
            reviewer?: string | null;
            /**
             * Since
             * @description For `end`: when it stopped being true; by default now.
             */
            since?: string | null;
            /**
             * Version
             * @description The item's `version` as it was read; if it moved since, nothing is done.
             */
            version: string;
            /**
             * With
             * @description For `merge` a memory's id; for `supersede_with` a memory's id, or what holds instead.
             * @example mem_0198c5a2f0a87b3c9d2e4f6a8b0c1d2e
             */
            with?: string | components["schemas"]["ReviewerStatement"] | null;
        };
        /**
         * DecidedOut
         * @description The event by which an item left the queue.
         */
        DecidedOut: {
            /**
             * At
             * Format: date-time
             */
            at: string;
            /** By */
            by: string;
            /** Detail */
            detail: {
                [key: string]: unknown;
            };
            /**
             * Event
             * @description `review.decided`, or what else settled it.
             */
            event: string;
        };
        /**
         * DecisionItem
         * @description A choice someone made about a piece of work or their life, with its reasons; not a taste or a habit.
         * @example {
         *       "decision": "PostgreSQL",
         *       "subject": "database",
         *       "type": "decision",
         *       "user_id": "ana"
         *     }
         */
        DecisionItem: {
            /**
             * Agent Id
             * @description Your id of the agent: what is stored is that agent's, what is asked or listed is what it may see.
             */
            agent_id?: string | null;
            /**
             * Alternatives
             * @description What was decided against.
             * @default []
             * @example [
             *       "MySQL"
             *     ]
             */
            alternatives?: string[];
            /** @description The category; by default the type's. */
            category?: components["schemas"]["Category"] | null;
            /**
             * Content
             * @description The sentence to remember, instead of one made from the fields.
             */
            content?: string | null;
            /**
             * Context
             * @description The text just before it: searched, never shown.
             */
            context?: string | null;
            /**
             * Decision
             * @description What was decided.
             * @example PostgreSQL
             */
            decision: string;
            /**
             * Ends
             * @description This is no longer so: nothing is stored, and what is held so ends, `valid_until` saying when (by default, when it is stated; what ends later holds until then). Answered with `ended`, or why nothing ended. For types that hold values.
             * @default false
             */
            ends?: boolean;
            /** Evidence */
            evidence?: components["schemas"]["EvidenceIn"][];
            /**
             * Evidence Turn Id
             * @description Short for evidence with just a turn_id.
             */
            evidence_turn_id?: string | null;
            /**
             * Extractor Confidence
             * @description Confidence of the extraction.
             */
            extractor_confidence?: number | null;
            /**
             * Importance
             * @description The importance, from 0 to 1, independent of confidence; by default the type's.
             */
            importance?: number | null;
            /**
             * Metadata
             * @description Anything else; questions and lists can filter by it.
             */
            metadata?: {
                [key: string]: unknown;
            };
            /**
             * Occurred At
             * @description When it was stated; now by default. A later statement replaces an earlier.
             */
            occurred_at?: string | null;
            /**
             * Provenance
             * @description Your own record of the memory's origin.
             */
            provenance?: {
                [key: string]: unknown;
            };
            /**
             * Rationale
             * @description Why.
             * @example it has row-level security
             */
            rationale?: string | null;
            /** @description Who sees it: everyone of the tenant, one user, or one agent. By default, with `user_id` that user's, whichever agent it was, unless the type's own scope is the agent; with `agent_id` alone that agent's, unless the type's own scope is global; with neither, global. */
            scope?: components["schemas"]["ScopeKind"] | null;
            /**
             * Sequence Number
             * @description Its place in the session.
             */
            sequence_number?: number | null;
            /**
             * Session Id
             * @description Your id of the conversation.
             */
            session_id?: string | null;
            /**
             * Source Confidence
             * @description The source strength.
             */
            source_confidence?: number | null;
            /**
             * @description The speech act; only an assertion can become an active belief.
             * @default assertion
             */
            speech_act?: components["schemas"]["SpeechAct"];
            /**
             * Subject
             * @description What is decided about; a later decision on it replaces this one.
             * @example database
             */
            subject: string;
            /**
             * Timezone
             * @description Where times without an offset are read.
             */
            timezone?: string | null;
            /**
             * Topic
             * @description A topic of your own choice, to filter by.
             */
            topic?: string | null;
            /**
             * Ttl Seconds
             * @description Instead of valid_until: how long it is true, in seconds from valid_from, or else from when it was stated.
             */
            ttl_seconds?: number | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "decision";
            /**
             * User Id
             * @description Your id of the user: what is stored is that user's, what is asked or listed is what they may see.
             */
            user_id?: string | null;
            /**
             * Valid From
             * @description Since when it is true.
             */
            valid_from?: string | null;
            /**
             * Valid Until
             * @description Until when it is true. What repeats a memory, and was not stated before it, moves its end; without one it leaves it as it is.
             */
            valid_until?: string | null;
        };
        /**
         * DecisionMemory
         * @description A choice someone made about a piece of work or their life, with its reasons; not a taste or a habit.
         */
        DecisionMemory: {
            /**
             * Access Count
             * @description Uses that count: what `not_useful` took back is not among them.
             */
            access_count: number;
            /** Agent Id */
            agent_id: string | null;
            /**
             * Alternatives
             * @description What was decided against.
             * @default []
             * @example [
             *       "MySQL"
             *     ]
             */
            alternatives?: string[];
            category: components["schemas"]["Category"];
            /** Confidence */
            confidence: number;
            confidence_parts: components["schemas"]["ConfidencePartsOut"];
            /** Content */
            content: string;
            /** Contested */
            contested: boolean;
            /**
             * Decision
             * @description What was decided.
             * @example PostgreSQL
             */
            decision: string;
            /**
             * Distinct Sessions
             * @description Sessions it was used in, as far as they are kept (16).
             */
            distinct_sessions: number;
            /** Evidence */
            evidence: components["schemas"]["EvidenceOut"][];
            /** Freshness */
            freshness: number;
            /**
             * Id
             * @example mem_0198c5a2f0a87b3c9d2e4f6a8b0c1d2e
             */
            id: string;
            /** Importance */
            importance: number;
            /** Last Accessed At */
            last_accessed_at: string | null;
            /** Links */
            links: components["schemas"]["LinkOut"][];
            /** Metadata */
            metadata: {
                [key: string]: unknown;
            };
            /** Needs Review */
            needs_review: boolean;
            /** Not Useful Count */
            not_useful_count: number;
            /**
             * Occurred At
             * Format: date-time
             * @description When it was said, by the latest that said so.
             */
            occurred_at: string;
            /** Provenance */
            provenance: {
                [key: string]: unknown;
            };
            /**
             * Rationale
             * @description Why.
             * @example it has row-level security
             */
            rationale?: string | null;
            /**
             * Recorded At
             * Format: date-time
             */
            recorded_at: string;
            /** Retired At */
            retired_at: string | null;
            review_reason: components["schemas"]["ReviewReason"] | null;
            scope: components["schemas"]["ScopeKind"];
            /** Sequence Number */
            sequence_number: number | null;
            /** Session Id */
            session_id: string | null;
            /**
             * Slot
             * @description The key under which only one value can be true at a time.
             */
            slot: string | null;
            speech_act: components["schemas"]["SpeechAct"];
            /**
             * Stability
             * @description From 0 to 1: grows with uses that lie days apart.
             */
            stability: number;
            status: components["schemas"]["MemoryStatus"];
            /**
             * Subject
             * @description What is decided about; a later decision on it replaces this one.
             * @example database
             */
            subject: string;
            /** Superseded By */
            superseded_by: string | null;
            /** Supersedes */
            supersedes: string | null;
            /** Topic */
            topic: string | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "decision";
            /** Useful Count */
            useful_count: number;
            /** User Id */
            user_id: string | null;
            /**
             * Valid From
             * Format: date-time
             */
            valid_from: string;
            /** Valid Until */
            valid_until: string | null;
            /** Wrong Count */
            wrong_count: number;
        };
        /**
         * DecisionWrite
         * @description A choice someone made about a piece of work or their life, with its reasons; not a taste or a habit.
         * @example {
         *       "decision": "PostgreSQL",
         *       "subject": "database",
         *       "user_id": "ana"
         *     }
         */
        DecisionWrite: {
            /**
             * Agent Id
             * @description Your id of the agent: what is stored is that agent's, what is asked or listed is what it may see.
             */
            agent_id?: string | null;
            /**
             * Alternatives
             * @description What was decided against.
             * @default []
             * @example [
             *       "MySQL"
             *     ]
             */
            alternatives?: string[];
            /** @description The category; by default the type's. */
            category?: components["schemas"]["Category"] | null;
            /**
             * Content
             * @description The sentence to remember, instead of one made from the fields.
             */
            content?: string | null;
            /**
             * Context
             * @description The text just before it: searched, never shown.
             */
            context?: string | null;
            /**
             * Decision
             * @description What was decided.
             * @example PostgreSQL
             */
            decision: string;
            /**
             * Ends
             * @description This is no longer so: nothing is stored, and what is held so ends, `valid_until` saying when (by default, when it is stated; what ends later holds until then). Answered with `ended`, or why nothing ended. For types that hold values.
             * @default false
             */
            ends?: boolean;
            /** Evidence */
            evidence?: components["schemas"]["EvidenceIn"][];
            /**
             * Evidence Turn Id
             * @description Short for evidence with just a turn_id.
             */
            evidence_turn_id?: string | null;
            /**
             * Extractor Confidence
             * @description Confidence of the extraction.
             */
            extractor_confidence?: number | null;
            /**
             * Importance
             * @description The importance, from 0 to 1, independent of confidence; by default the type's.
             */
            importance?: number | null;
            /**
             * Metadata
             * @description Anything else; questions and lists can filter by it.
             */
            metadata?: {
                [key: string]: unknown;
            };
            /**
             * Occurred At
             * @description When it was stated; now by default. A later statement replaces an earlier.
             */
            occurred_at?: string | null;
            /**
             * Provenance
             * @description Your own record of the memory's origin.
             */
            provenance?: {
                [key: string]: unknown;
            };
            /**
             * Rationale
             * @description Why.
             * @example it has row-level security
             */
            rationale?: string | null;
            /** @description Who sees it: everyone of the tenant, one user, or one agent. By default, with `user_id` that user's, whichever agent it was, unless the type's own scope is the agent; with `agent_id` alone that agent's, unless the type's own scope is global; with neither, global. */
            scope?: components["schemas"]["ScopeKind"] | null;
            /**
             * Sequence Number
             * @description Its place in the session.
             */
            sequence_number?: number | null;
            /**
             * Session Id
             * @description Your id of the conversation.
             */
            session_id?: string | null;
            /**
             * Source Confidence
             * @description The source strength.
             */
            source_confidence?: number | null;
            /**
             * @description The speech act; only an assertion can become an active belief.
             * @default assertion
             */
            speech_act?: components["schemas"]["SpeechAct"];
            /**
             * Subject
             * @description What is decided about; a later decision on it replaces this one.
             * @example database
             */
            subject: string;
            /**
             * Timezone
             * @description Where times without an offset are read.
             */
            timezone?: string | null;
            /**
             * Topic
             * @description A topic of your own choice, to filter by.
             */
            topic?: string | null;
            /**
             * Ttl Seconds
             * @description Instead of valid_until: how long it is true, in seconds from valid_from, or else from when it was stated.
             */
            ttl_seconds?: number | null;
            /**
             * Type
             * @description May be left out: the route says it.
             */
            type?: "decision" | null;
            /**
             * User Id
             * @description Your id of the user: what is stored is that user's, what is asked or listed is what they may see.
             */
            user_id?: string | null;
            /**
             * Valid From
             * @description Since when it is true.
             */
            valid_from?: string | null;
            /**
             * Valid Until
             * @description Until when it is true. What repeats a memory, and was not stated before it, moves its end; without one it leaves it as it is.
             */
            valid_until?: string | null;
        };
        /**
         * DocumentItem
         * @description A section of a document, word for word: what a source says, not what anybody said.
         * @example {
         *       "content": "Employees may work from home two days a week.",
         *       "document_id": "handbook.md",
         *       "section": "Working hours",
         *       "title": "Handbook",
         *       "type": "document",
         *       "user_id": "ana"
         *     }
         */
        DocumentItem: {
            /**
             * Agent Id
             * @description Your id of the agent: what is stored is that agent's, what is asked or listed is what it may see.
             */
            agent_id?: string | null;
            /** @description The category; by default the type's. */
            category?: components["schemas"]["Category"] | null;
            /**
             * Content
             * @description The words of the section.
             */
            content: string;
            /**
             * Context
             * @description The text just before it: searched, never shown.
             */
            context?: string | null;
            /**
             * Document Id
             * @description The document that it is a section of.
             */
            document_id: string;
            /**
             * Ends
             * @description This is no longer so: nothing is stored, and what is held so ends, `valid_until` saying when (by default, when it is stated; what ends later holds until then). Answered with `ended`, or why nothing ended. For types that hold values.
             * @default false
             */
            ends?: boolean;
            /** Evidence */
            evidence?: components["schemas"]["EvidenceIn"][];
            /**
             * Evidence Turn Id
             * @description Short for evidence with just a turn_id.
             */
            evidence_turn_id?: string | null;
            /**
             * Extractor Confidence
             * @description Confidence of the extraction.
             */
            extractor_confidence?: number | null;
            /**
             * Importance
             * @description The importance, from 0 to 1, independent of confidence; by default the type's.
             */
            importance?: number | null;
            /**
             * Metadata
             * @description Anything else; questions and lists can filter by it.
             */
            metadata?: {
                [key: string]: unknown;
            };
            /**
             * Occurred At
             * @description When it was stated; now by default. A later statement replaces an earlier.
             */
            occurred_at?: string | null;
            /**
             * Provenance
             * @description Your own record of the memory's origin.
             */
            provenance?: {
                [key: string]: unknown;
            };
            /** @description Who sees it: everyone of the tenant, one user, or one agent. By default, with `user_id` that user's, whichever agent it was, unless the type's own scope is the agent; with `agent_id` alone that agent's, unless the type's own scope is global; with neither, global. */
            scope?: components["schemas"]["ScopeKind"] | null;
            /**
             * Section
             * @description The headings it stands under.
             * @example Leave > Sick
             */
            section?: string | null;
            /**
             * Sequence Number
             * @description Its place in the session.
             */
            sequence_number?: number | null;
            /**
             * Session Id
             * @description Your id of the conversation.
             */
            session_id?: string | null;
            /**
             * Source Confidence
             * @description The source strength.
             */
            source_confidence?: number | null;
            /**
             * @description The speech act; only an assertion can become an active belief.
             * @default assertion
             */
            speech_act?: components["schemas"]["SpeechAct"];
            /**
             * Timezone
             * @description Where times without an offset are read.
             */
            timezone?: string | null;
            /**
             * Title
             * @description The title of the document.
             */
            title?: string | null;
            /**
             * Topic
             * @description A topic of your own choice, to filter by.
             */
            topic?: string | null;
            /**
             * Ttl Seconds
             * @description Instead of valid_until: how long it is true, in seconds from valid_from, or else from when it was stated.
             */
            ttl_seconds?: number | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "document";
            /**
             * User Id
             * @description Your id of the user: what is stored is that user's, what is asked or listed is what they may see.
             */
            user_id?: string | null;
            /**
             * Valid From
             * @description Since when it is true.
             */
            valid_from?: string | null;
            /**
             * Valid Until
             * @description Until when it is true. What repeats a memory, and was not stated before it, moves its end; without one it leaves it as it is.
             */
            valid_until?: string | null;
        };
        /**
         * DocumentMemory
         * @description A section of a document, word for word: what a source says, not what anybody said.
         */
        DocumentMemory: {
            /**
             * Access Count
             * @description Uses that count: what `not_useful` took back is not among them.
             */
            access_count: number;
            /** Agent Id */
            agent_id: string | null;
            category: components["schemas"]["Category"];
            /** Confidence */
            confidence: number;
            confidence_parts: components["schemas"]["ConfidencePartsOut"];
            /**
             * Content
             * @description The words of the section.
             */
            content: string;
            /** Contested */
            contested: boolean;
            /**
             * Distinct Sessions
             * @description Sessions it was used in, as far as they are kept (16).
             */
            distinct_sessions: number;
            /**
             * Document Id
             * @description The document that it is a section of.
             */
            document_id: string;
            /** Evidence */
            evidence: components["schemas"]["EvidenceOut"][];
            /** Freshness */
            freshness: number;
            /**
             * Id
             * @example mem_0198c5a2f0a87b3c9d2e4f6a8b0c1d2e
             */
            id: string;
            /** Importance */
            importance: number;
            /** Last Accessed At */
            last_accessed_at: string | null;
            /** Links */
            links: components["schemas"]["LinkOut"][];
            /** Metadata */
            metadata: {
                [key: string]: unknown;
            };
            /** Needs Review */
            needs_review: boolean;
            /** Not Useful Count */
            not_useful_count: number;
            /**
             * Occurred At
             * Format: date-time
             * @description When it was said, by the latest that said so.
             */
            occurred_at: string;
            /** Provenance */
            provenance: {
                [key: string]: unknown;
            };
            /**
             * Recorded At
             * Format: date-time
             */
            recorded_at: string;
            /** Retired At */
            retired_at: string | null;
            review_reason: components["schemas"]["ReviewReason"] | null;
            scope: components["schemas"]["ScopeKind"];
            /**
             * Section
             * @description The headings it stands under.
             * @example Leave > Sick
             */
            section?: string | null;
            /** Sequence Number */
            sequence_number: number | null;
            /** Session Id */
            session_id: string | null;
            /**
             * Slot
             * @description The key under which only one value can be true at a time.
             */
            slot: string | null;
            speech_act: components["schemas"]["SpeechAct"];
            /**
             * Stability
             * @description From 0 to 1: grows with uses that lie days apart.
             */
            stability: number;
            status: components["schemas"]["MemoryStatus"];
            /** Subject */
            subject: string | null;
            /** Superseded By */
            superseded_by: string | null;
            /** Supersedes */
            supersedes: string | null;
            /**
             * Title
             * @description The title of the document.
             */
            title?: string | null;
            /** Topic */
            topic: string | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "document";
            /** Useful Count */
            useful_count: number;
            /** User Id */
            user_id: string | null;
            /**
             * Valid From
             * Format: date-time
             */
            valid_from: string;
            /** Valid Until */
            valid_until: string | null;
            /** Wrong Count */
            wrong_count: number;
        };
        /**
         * DocumentWrite
         * @description A section of a document, word for word: what a source says, not what anybody said.
         * @example {
         *       "content": "Employees may work from home two days a week.",
         *       "document_id": "handbook.md",
         *       "section": "Working hours",
         *       "title": "Handbook",
         *       "user_id": "ana"
         *     }
         */
        DocumentWrite: {
            /**
             * Agent Id
             * @description Your id of the agent: what is stored is that agent's, what is asked or listed is what it may see.
             */
            agent_id?: string | null;
            /** @description The category; by default the type's. */
            category?: components["schemas"]["Category"] | null;
            /**
             * Content
             * @description The words of the section.
             */
            content: string;
            /**
             * Context
             * @description The text just before it: searched, never shown.
             */
            context?: string | null;
            /**
             * Document Id
             * @description The document that it is a section of.
             */
            document_id: string;
            /**
             * Ends
             * @description This is no longer so: nothing is stored, and what is held so ends, `valid_until` saying when (by default, when it is stated; what ends later holds until then). Answered with `ended`, or why nothing ended. For types that hold values.
             * @default false
             */
            ends?: boolean;
            /** Evidence */
            evidence?: components["schemas"]["EvidenceIn"][];
            /**
             * Evidence Turn Id
             * @description Short for evidence with just a turn_id.
             */
            evidence_turn_id?: string | null;
            /**
             * Extractor Confidence
             * @description Confidence of the extraction.
             */
            extractor_confidence?: number | null;
            /**
             * Importance
             * @description The importance, from 0 to 1, independent of confidence; by default the type's.
             */
            importance?: number | null;
            /**
             * Metadata
             * @description Anything else; questions and lists can filter by it.
             */
            metadata?: {
                [key: string]: unknown;
            };
            /**
             * Occurred At
             * @description When it was stated; now by default. A later statement replaces an earlier.
             */
            occurred_at?: string | null;
            /**
             * Provenance
             * @description Your own record of the memory's origin.
             */
            provenance?: {
                [key: string]: unknown;
            };
            /** @description Who sees it: everyone of the tenant, one user, or one agent. By default, with `user_id` that user's, whichever agent it was, unless the type's own scope is the agent; with `agent_id` alone that agent's, unless the type's own scope is global; with neither, global. */
            scope?: components["schemas"]["ScopeKind"] | null;
            /**
             * Section
             * @description The headings it stands under.
             * @example Leave > Sick
             */
            section?: string | null;
            /**
             * Sequence Number
             * @description Its place in the session.
             */
            sequence_number?: number | null;
            /**
             * Session Id
             * @description Your id of the conversation.
             */
            session_id?: string | null;
            /**
             * Source Confidence
             * @description The source strength.
             */
            source_confidence?: number | null;
            /**
             * @description The speech act; only an assertion can become an active belief.
             * @default assertion
             */
            speech_act?: components["schemas"]["SpeechAct"];
            /**
             * Timezone
             * @description Where times without an offset are read.
             */
            timezone?: string | null;
            /**
             * Title
             * @description The title of the document.
             */
            title?: string | null;
            /**
             * Topic
             * @description A topic of your own choice, to filter by.
             */
            topic?: string | null;
            /**
             * Ttl Seconds
             * @description Instead of valid_until: how long it is true, in seconds from valid_from, or else from when it was stated.
             */
            ttl_seconds?: number | null;
            /**
             * Type
             * @description May be left out: the route says it.
             */
            type?: "document" | null;
            /**
             * User Id
             * @description Your id of the user: what is stored is that user's, what is asked or listed is what they may see.
             */
            user_id?: string | null;
            /**
             * Valid From
             * @description Since when it is true.
             */
            valid_from?: string | null;
            /**
             * Valid Until
             * @description Until when it is true. What repeats a memory, and was not stated before it, moves its end; without one it leaves it as it is.
             */
            valid_until?: string | null;
        };
        /**
         * DroppedOut
         * @description An item that a stage dropped.
         */
        DroppedOut: {
            /** Reason */
            reason: string;
            /** What */
            what: string;
        };
        /**
         * EdgeOut
         * @description A relation between two entities, and the memory that states it.
         */
        EdgeOut: {
            from_entity: components["schemas"]["EndOut"];
            /** Hop */
            hop: number;
            /** Memory Id */
            memory_id: string;
            /** Relation Type */
            relation_type: string;
            /** Since */
            since: string | null;
            to_entity: components["schemas"]["EndOut"];
        };
        /**
         * EndOut
         * @description One end of an edge.
         */
        EndOut: {
            /** Id */
            id: string;
            /** Name */
            name: string;
        };
        /**
         * EntityDetailOut
         * @description An entity with its names, its attributes, and the values that these had before.
         */
        EntityDetailOut: {
            /** Agent Id */
            agent_id: string | null;
            /** Aliases */
            aliases: string[];
            /** Attributes */
            attributes: {
                [key: string]: unknown;
            };
            /** Canonical Name */
            canonical_name: string;
            /**
             * Created At
             * Format: date-time
             */
            created_at: string;
            /** Entity Type */
            entity_type: string;
            /**
             * Former Attributes
             * @description The latest first.
             */
            former_attributes: components["schemas"]["FormerAttributeOut"][];
            /** Id */
            id: string;
            /** Mention Count */
            mention_count: number;
            /**
             * Merged
             * @description Entities that were merged into it; what is known of them is its own.
             */
            merged: string[];
            /**
             * Merged Into
             * @description The entity that its names lead to now.
             */
            merged_into: string | null;
            scope: components["schemas"]["ScopeKind"];
            /** User Id */
            user_id: string | null;
        };
        /**
         * EntityItem
         * @description Someone or something with an identity: a person, an organization, a place, a project.
         * @example {
         *       "aliases": [
         *         "VW"
         *       ],
         *       "attributes": {
         *         "headquarters": "Wolfsburg",
         *         "industry": "automotive"
         *       },
         *       "canonical_name": "Volkswagen",
         *       "entity_type": "organization",
         *       "type": "entity",
         *       "user_id": "ana"
         *     }
         */
        EntityItem: {
            /**
             * Agent Id
             * @description Your id of the agent: what is stored is that agent's, what is asked or listed is what it may see.
             */
            agent_id?: string | null;
            /**
             * Aliases
             * @default []
             * @example [
             *       "VW",
             *       "Volkswagen"
             *     ]
             */
            aliases?: string[];
            /** Attributes */
            attributes?: {
                [key: string]: string;
            };
            /**
             * Canonical Name
             * @example Volkswagen AG
             */
            canonical_name: string;
            /** @description The category; by default the type's. */
            category?: components["schemas"]["Category"] | null;
            /**
             * Content
             * @description The sentence to remember, instead of one made from the fields.
             */
            content?: string | null;
            /**
             * Context
             * @description The text just before it: searched, never shown.
             */
            context?: string | null;
            /**
             * Ends
             * @description This is no longer so: nothing is stored, and what is held so ends, `valid_until` saying when (by default, when it is stated; what ends later holds until then). Answered with `ended`, or why nothing ended. For types that hold values.
             * @default false
             */
            ends?: boolean;
            /**
             * Entity Type
             * @description person, organization, place, project, ...
             * @example organization
             */
            entity_type: string;
            /** Evidence */
            evidence?: components["schemas"]["EvidenceIn"][];
            /**
             * Evidence Turn Id
             * @description Short for evidence with just a turn_id.
             */
            evidence_turn_id?: string | null;
            /**
             * Extractor Confidence
             * @description Confidence of the extraction.
             */
            extractor_confidence?: number | null;
            /**
             * Importance
             * @description The importance, from 0 to 1, independent of confidence; by default the type's.
             */
            importance?: number | null;
            /**
             * Metadata
             * @description Anything else; questions and lists can filter by it.
             */
            metadata?: {
                [key: string]: unknown;
            };
            /**
             * Occurred At
             * @description When it was stated; now by default. A later statement replaces an earlier.
             */
            occurred_at?: string | null;
            /**
             * Provenance
             * @description Your own record of the memory's origin.
             */
            provenance?: {
                [key: string]: unknown;
            };
            /** @description Who sees it: everyone of the tenant, one user, or one agent. By default, with `user_id` that user's, whichever agent it was, unless the type's own scope is the agent; with `agent_id` alone that agent's, unless the type's own scope is global; with neither, global. */
            scope?: components["schemas"]["ScopeKind"] | null;
            /**
             * Sequence Number
             * @description Its place in the session.
             */
            sequence_number?: number | null;
            /**
             * Session Id
             * @description Your id of the conversation.
             */
            session_id?: string | null;
            /**
             * Source Confidence
             * @description The source strength.
             */
            source_confidence?: number | null;
            /**
             * @description The speech act; only an assertion can become an active belief.
             * @default assertion
             */
            speech_act?: components["schemas"]["SpeechAct"];
            /**
             * Timezone
             * @description Where times without an offset are read.
             */
            timezone?: string | null;
            /**
             * Topic
             * @description A topic of your own choice, to filter by.
             */
            topic?: string | null;
            /**
             * Ttl Seconds
             * @description Instead of valid_until: how long it is true, in seconds from valid_from, or else from when it was stated.
             */
            ttl_seconds?: number | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "entity";
            /**
             * User Id
             * @description Your id of the user: what is stored is that user's, what is asked or listed is what they may see.
             */
            user_id?: string | null;
            /**
             * Valid From
             * @description Since when it is true.
             */
            valid_from?: string | null;
            /**
             * Valid Until
             * @description Until when it is true. What repeats a memory, and was not stated before it, moves its end; without one it leaves it as it is.
             */
            valid_until?: string | null;
        };
        /**
         * EntityMemory
         * @description Someone or something with an identity: a person, an organization, a place, a project.
         */
        EntityMemory: {
            /**
             * Access Count
             * @description Uses that count: what `not_useful` took back is not among them.
             */
            access_count: number;
            /** Agent Id */
            agent_id: string | null;
            /**
             * Aliases
             * @default []
             * @example [
             *       "VW",
             *       "Volkswagen"
             *     ]
             */
            aliases?: string[];
            /** Attributes */
            attributes?: {
                [key: string]: string;
            };
            /**
             * Canonical Name
             * @example Volkswagen AG
             */
            canonical_name: string;
            category: components["schemas"]["Category"];
            /** Confidence */
            confidence: number;
            confidence_parts: components["schemas"]["ConfidencePartsOut"];
            /** Content */
            content: string;
            /** Contested */
            contested: boolean;
            /**
             * Distinct Sessions
             * @description Sessions it was used in, as far as they are kept (16).
             */
            distinct_sessions: number;
            /**
             * Entity Type
             * @description person, organization, place, project, ...
             * @example organization
             */
            entity_type: string;
            /** Evidence */
            evidence: components["schemas"]["EvidenceOut"][];
            /** Freshness */
            freshness: number;
            /**
             * Id
             * @example mem_0198c5a2f0a87b3c9d2e4f6a8b0c1d2e
             */
            id: string;
            /** Importance */
            importance: number;
            /** Last Accessed At */
            last_accessed_at: string | null;
            /** Links */
            links: components["schemas"]["LinkOut"][];
            /** Metadata */
            metadata: {
                [key: string]: unknown;
            };
            /** Needs Review */
            needs_review: boolean;
            /** Not Useful Count */
            not_useful_count: number;
            /**
             * Occurred At
             * Format: date-time
             * @description When it was said, by the latest that said so.
             */
            occurred_at: string;
            /** Provenance */
            provenance: {
                [key: string]: unknown;
            };
            /**
             * Recorded At
             * Format: date-time
             */
            recorded_at: string;
            /** Retired At */
            retired_at: string | null;
            review_reason: components["schemas"]["ReviewReason"] | null;
            scope: components["schemas"]["ScopeKind"];
            /** Sequence Number */
            sequence_number: number | null;
            /** Session Id */
            session_id: string | null;
            /**
             * Slot
             * @description The key under which only one value can be true at a time.
             */
            slot: string | null;
            speech_act: components["schemas"]["SpeechAct"];
            /**
             * Stability
             * @description From 0 to 1: grows with uses that lie days apart.
             */
            stability: number;
            status: components["schemas"]["MemoryStatus"];
            /** Subject */
            subject: string | null;
            /** Superseded By */
            superseded_by: string | null;
            /** Supersedes */
            supersedes: string | null;
            /** Topic */
            topic: string | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "entity";
            /** Useful Count */
            useful_count: number;
            /** User Id */
            user_id: string | null;
            /**
             * Valid From
             * Format: date-time
             */
            valid_from: string;
            /** Valid Until */
            valid_until: string | null;
            /** Wrong Count */
            wrong_count: number;
        };
        /**
         * EntityOut
         * @description An entity and its names.
         */
        EntityOut: {
            /** Agent Id */
            agent_id: string | null;
            /** Aliases */
            aliases: string[];
            /** Attributes */
            attributes: {
                [key: string]: unknown;
            };
            /** Canonical Name */
            canonical_name: string;
            /**
             * Created At
             * Format: date-time
             */
            created_at: string;
            /** Entity Type */
            entity_type: string;
            /** Id */
            id: string;
            /** Mention Count */
            mention_count: number;
            /**
             * Merged
             * @description Entities that were merged into it; what is known of them is its own.
             */
            merged: string[];
            /**
             * Merged Into
             * @description The entity that its names lead to now.
             */
            merged_into: string | null;
            scope: components["schemas"]["ScopeKind"];
            /** User Id */
            user_id: string | null;
        };
        /**
         * EntityPage
         * @description Some entities.
         */
        EntityPage: {
            /** Entities */
            entities: components["schemas"]["EntityOut"][];
            /** Next Cursor */
            next_cursor: string | null;
        };
        /**
         * EntityWrite
         * @description Someone or something with an identity: a person, an organization, a place, a project.
         * @example {
         *       "aliases": [
         *         "VW"
         *       ],
         *       "attributes": {
         *         "headquarters": "Wolfsburg",
         *         "industry": "automotive"
         *       },
         *       "canonical_name": "Volkswagen",
         *       "entity_type": "organization",
         *       "user_id": "ana"
         *     }
         */
        EntityWrite: {
            /**
             * Agent Id
             * @description Your id of the agent: what is stored is that agent's, what is asked or listed is what it may see.
             */
            agent_id?: string | null;
            /**
             * Aliases
             * @default []
             * @example [
             *       "VW",
             *       "Volkswagen"
             *     ]
             */
            aliases?: string[];
            /** Attributes */
            attributes?: {
                [key: string]: string;
            };
            /**
             * Canonical Name
             * @example Volkswagen AG
             */
            canonical_name: string;
            /** @description The category; by default the type's. */
            category?: components["schemas"]["Category"] | null;
            /**
             * Content
             * @description The sentence to remember, instead of one made from the fields.
             */
            content?: string | null;
            /**
             * Context
             * @description The text just before it: searched, never shown.
             */
            context?: string | null;
            /**
             * Ends
             * @description This is no longer so: nothing is stored, and what is held so ends, `valid_until` saying when (by default, when it is stated; what ends later holds until then). Answered with `ended`, or why nothing ended. For types that hold values.
             * @default false
             */
            ends?: boolean;
            /**
             * Entity Type
             * @description person, organization, place, project, ...
             * @example organization
             */
            entity_type: string;
            /** Evidence */
            evidence?: components["schemas"]["EvidenceIn"][];
            /**
             * Evidence Turn Id
             * @description Short for evidence with just a turn_id.
             */
            evidence_turn_id?: string | null;
            /**
             * Extractor Confidence
             * @description Confidence of the extraction.
             */
            extractor_confidence?: number | null;
            /**
             * Importance
             * @description The importance, from 0 to 1, independent of confidence; by default the type's.
             */
            importance?: number | null;
            /**
             * Metadata
             * @description Anything else; questions and lists can filter by it.
             */
            metadata?: {
                [key: string]: unknown;
            };
            /**
             * Occurred At
             * @description When it was stated; now by default. A later statement replaces an earlier.
             */
            occurred_at?: string | null;
            /**
             * Provenance
             * @description Your own record of the memory's origin.
             */
            provenance?: {
                [key: string]: unknown;
            };
            /** @description Who sees it: everyone of the tenant, one user, or one agent. By default, with `user_id` that user's, whichever agent it was, unless the type's own scope is the agent; with `agent_id` alone that agent's, unless the type's own scope is global; with neither, global. */
            scope?: components["schemas"]["ScopeKind"] | null;
            /**
             * Sequence Number
             * @description Its place in the session.
             */
            sequence_number?: number | null;
            /**
             * Session Id
             * @description Your id of the conversation.
             */
            session_id?: string | null;
            /**
             * Source Confidence
             * @description The source strength.
             */
            source_confidence?: number | null;
            /**
             * @description The speech act; only an assertion can become an active belief.
             * @default assertion
             */
            speech_act?: components["schemas"]["SpeechAct"];
            /**
             * Timezone
             * @description Where times without an offset are read.
             */
            timezone?: string | null;
            /**
             * Topic
             * @description A topic of your own choice, to filter by.
             */
            topic?: string | null;
            /**
             * Ttl Seconds
             * @description Instead of valid_until: how long it is true, in seconds from valid_from, or else from when it was stated.
             */
            ttl_seconds?: number | null;
            /**
             * Type
             * @description May be left out: the route says it.
             */
            type?: "entity" | null;
            /**
             * User Id
             * @description Your id of the user: what is stored is that user's, what is asked or listed is what they may see.
             */
            user_id?: string | null;
            /**
             * Valid From
             * @description Since when it is true.
             */
            valid_from?: string | null;
            /**
             * Valid Until
             * @description Until when it is true. What repeats a memory, and was not stated before it, moves its end; without one it leaves it as it is.
             */
            valid_until?: string | null;
        };
        /**
         * EpisodicItem
         * @description What happened in an interaction, kept in the order of its session.
         * @example {
         *       "content": "User asked about pricing for enterprise plan",
         *       "sequence_number": 1,
         *       "session_id": "conv-42",
         *       "type": "episodic",
         *       "user_id": "ana"
         *     }
         */
        EpisodicItem: {
            /**
             * Agent Id
             * @description Your id of the agent: what is stored is that agent's, what is asked or listed is what it may see.
             */
            agent_id?: string | null;
            /** @description The category; by default the type's. */
            category?: components["schemas"]["Category"] | null;
            /**
             * Content
             * @description What was said or done.
             */
            content: string;
            /**
             * Context
             * @description The text just before it: searched, never shown.
             */
            context?: string | null;
            /**
             * Ends
             * @description This is no longer so: nothing is stored, and what is held so ends, `valid_until` saying when (by default, when it is stated; what ends later holds until then). Answered with `ended`, or why nothing ended. For types that hold values.
             * @default false
             */
            ends?: boolean;
            /** Evidence */
            evidence?: components["schemas"]["EvidenceIn"][];
            /**
             * Evidence Turn Id
             * @description Short for evidence with just a turn_id.
             */
            evidence_turn_id?: string | null;
            /**
             * Extractor Confidence
             * @description Confidence of the extraction.
             */
            extractor_confidence?: number | null;
            /**
             * Importance
             * @description The importance, from 0 to 1, independent of confidence; by default the type's.
             */
            importance?: number | null;
            /**
             * Metadata
             * @description Anything else; questions and lists can filter by it.
             */
            metadata?: {
                [key: string]: unknown;
            };
            /**
             * Occurred At
             * @description When it was stated; now by default. A later statement replaces an earlier.
             */
            occurred_at?: string | null;
            /**
             * Provenance
             * @description Your own record of the memory's origin.
             */
            provenance?: {
                [key: string]: unknown;
            };
            /** @description Who sees it: everyone of the tenant, one user, or one agent. By default, with `user_id` that user's, whichever agent it was, unless the type's own scope is the agent; with `agent_id` alone that agent's, unless the type's own scope is global; with neither, global. */
            scope?: components["schemas"]["ScopeKind"] | null;
            /**
             * Sequence Number
             * @description Its place in the session.
             */
            sequence_number?: number | null;
            /**
             * Session Id
             * @description The conversation it belongs to.
             */
            session_id: string;
            /**
             * Source Confidence
             * @description The source strength.
             */
            source_confidence?: number | null;
            /**
             * Speaker
             * @description Who said it.
             */
            speaker?: string | null;
            /**
             * @description The speech act; only an assertion can become an active belief.
             * @default assertion
             */
            speech_act?: components["schemas"]["SpeechAct"];
            /**
             * Timezone
             * @description Where times without an offset are read.
             */
            timezone?: string | null;
            /**
             * Topic
             * @description A topic of your own choice, to filter by.
             */
            topic?: string | null;
            /**
             * Ttl Seconds
             * @description Instead of valid_until: how long it is true, in seconds from valid_from, or else from when it was stated.
             */
            ttl_seconds?: number | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "episodic";
            /**
             * User Id
             * @description Your id of the user: what is stored is that user's, what is asked or listed is what they may see.
             */
            user_id?: string | null;
            /**
             * Valid From
             * @description Since when it is true.
             */
            valid_from?: string | null;
            /**
             * Valid Until
             * @description Until when it is true. What repeats a memory, and was not stated before it, moves its end; without one it leaves it as it is.
             */
            valid_until?: string | null;
        };
        /**
         * EpisodicMemory
         * @description What happened in an interaction, kept in the order of its session.
         */
        EpisodicMemory: {
            /**
             * Access Count
             * @description Uses that count: what `not_useful` took back is not among them.
             */
            access_count: number;
            /** Agent Id */
            agent_id: string | null;
            category: components["schemas"]["Category"];
            /** Confidence */
            confidence: number;
            confidence_parts: components["schemas"]["ConfidencePartsOut"];
            /**
             * Content
             * @description What was said or done.
             */
            content: string;
            /** Contested */
            contested: boolean;
            /**
             * Distinct Sessions
             * @description Sessions it was used in, as far as they are kept (16).
             */
            distinct_sessions: number;
            /** Evidence */
            evidence: components["schemas"]["EvidenceOut"][];
            /** Freshness */
            freshness: number;
            /**
             * Id
             * @example mem_0198c5a2f0a87b3c9d2e4f6a8b0c1d2e
             */
            id: string;
            /** Importance */
            importance: number;
            /** Last Accessed At */
            last_accessed_at: string | null;
            /** Links */
            links: components["schemas"]["LinkOut"][];
            /** Metadata */
            metadata: {
                [key: string]: unknown;
            };
            /** Needs Review */
            needs_review: boolean;
            /** Not Useful Count */
            not_useful_count: number;
            /**
             * Occurred At
             * Format: date-time
             * @description When it was said, by the latest that said so.
             */
            occurred_at: string;
            /** Provenance */
            provenance: {
                [key: string]: unknown;
            };
            /**
             * Recorded At
             * Format: date-time
             */
            recorded_at: string;
            /** Retired At */
            retired_at: string | null;
            review_reason: components["schemas"]["ReviewReason"] | null;
            scope: components["schemas"]["ScopeKind"];
            /** Sequence Number */
            sequence_number?: number | null;
            /**
             * Session Id
             * @description The conversation it belongs to.
             */
            session_id: string;
            /**
             * Slot
             * @description The key under which only one value can be true at a time.
             */
            slot: string | null;
            /**
             * Speaker
             * @description Who said it.
             */
            speaker?: string | null;
            speech_act: components["schemas"]["SpeechAct"];
            /**
             * Stability
             * @description From 0 to 1: grows with uses that lie days apart.
             */
            stability: number;
            status: components["schemas"]["MemoryStatus"];
            /** Subject */
            subject: string | null;
            /** Superseded By */
            superseded_by: string | null;
            /** Supersedes */
            supersedes: string | null;
            /** Topic */
            topic: string | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "episodic";
            /** Useful Count */
            useful_count: number;
            /** User Id */
            user_id: string | null;
            /**
             * Valid From
             * Format: date-time
             */
            valid_from: string;
            /** Valid Until */
            valid_until: string | null;
            /** Wrong Count */
            wrong_count: number;
        };
        /**
         * EpisodicWrite
         * @description What happened in an interaction, kept in the order of its session.
         * @example {
         *       "content": "User asked about pricing for enterprise plan",
         *       "sequence_number": 1,
         *       "session_id": "conv-42",
         *       "user_id": "ana"
         *     }
         */
        EpisodicWrite: {
            /**
             * Agent Id
             * @description Your id of the agent: what is stored is that agent's, what is asked or listed is what it may see.
             */
            agent_id?: string | null;
            /** @description The category; by default the type's. */
            category?: components["schemas"]["Category"] | null;
            /**
             * Content
             * @description What was said or done.
             */
            content: string;
            /**
             * Context
             * @description The text just before it: searched, never shown.
             */
            context?: string | null;
            /**
             * Ends
             * @description This is no longer so: nothing is stored, and what is held so ends, `valid_until` saying when (by default, when it is stated; what ends later holds until then). Answered with `ended`, or why nothing ended. For types that hold values.
             * @default false
             */
            ends?: boolean;
            /** Evidence */
            evidence?: components["schemas"]["EvidenceIn"][];
            /**
             * Evidence Turn Id
             * @description Short for evidence with just a turn_id.
             */
            evidence_turn_id?: string | null;
            /**
             * Extractor Confidence
             * @description Confidence of the extraction.
             */
            extractor_confidence?: number | null;
            /**
             * Importance
             * @description The importance, from 0 to 1, independent of confidence; by default the type's.
             */
            importance?: number | null;
            /**
             * Metadata
             * @description Anything else; questions and lists can filter by it.
             */
            metadata?: {
                [key: string]: unknown;
            };
            /**
             * Occurred At
             * @description When it was stated; now by default. A later statement replaces an earlier.
             */
            occurred_at?: string | null;
            /**
             * Provenance
             * @description Your own record of the memory's origin.
             */
            provenance?: {
                [key: string]: unknown;
            };
            /** @description Who sees it: everyone of the tenant, one user, or one agent. By default, with `user_id` that user's, whichever agent it was, unless the type's own scope is the agent; with `agent_id` alone that agent's, unless the type's own scope is global; with neither, global. */
            scope?: components["schemas"]["ScopeKind"] | null;
            /**
             * Sequence Number
             * @description Its place in the session.
             */
            sequence_number?: number | null;
            /**
             * Session Id
             * @description The conversation it belongs to.
             */
            session_id: string;
            /**
             * Source Confidence
             * @description The source strength.
             */
            source_confidence?: number | null;
            /**
             * Speaker
             * @description Who said it.
             */
            speaker?: string | null;
            /**
             * @description The speech act; only an assertion can become an active belief.
             * @default assertion
             */
            speech_act?: components["schemas"]["SpeechAct"];
            /**
             * Timezone
             * @description Where times without an offset are read.
             */
            timezone?: string | null;
            /**
             * Topic
             * @description A topic of your own choice, to filter by.
             */
            topic?: string | null;
            /**
             * Ttl Seconds
             * @description Instead of valid_until: how long it is true, in seconds from valid_from, or else from when it was stated.
             */
            ttl_seconds?: number | null;
            /**
             * Type
             * @description May be left out: the route says it.
             */
            type?: "episodic" | null;
            /**
             * User Id
             * @description Your id of the user: what is stored is that user's, what is asked or listed is what they may see.
             */
            user_id?: string | null;
            /**
             * Valid From
             * @description Since when it is true.
             */
            valid_from?: string | null;
            /**
             * Valid Until
             * @description Until when it is true. What repeats a memory, and was not stated before it, moves its end; without one it leaves it as it is.
             */
            valid_until?: string | null;
        };
        /**
         * EventItem
         * @description Something that happened at a time, or will; two events never replace one another.
         * @example {
         *       "event_at": "2026-05-09",
         *       "event_description": "user joined the platform team",
         *       "type": "event",
         *       "user_id": "ana"
         *     }
         */
        EventItem: {
            /**
             * Agent Id
             * @description Your id of the agent: what is stored is that agent's, what is asked or listed is what it may see.
             */
            agent_id?: string | null;
            /** @description The category; by default the type's. */
            category?: components["schemas"]["Category"] | null;
            /**
             * Content
             * @description The sentence to remember, instead of one made from the fields.
             */
            content?: string | null;
            /**
             * Context
             * @description The text just before it: searched, never shown.
             */
            context?: string | null;
            /**
             * Ends
             * @description This is no longer so: nothing is stored, and what is held so ends, `valid_until` saying when (by default, when it is stated; what ends later holds until then). Answered with `ended`, or why nothing ended. For types that hold values.
             * @default false
             */
            ends?: boolean;
            /**
             * Event At
             * @description When: a date, or a date and time; without an offset it is in the request's time zone.
             * @example 2026-05-09
             */
            event_at?: string | null;
            /** @description How exactly the time is known; by default as exact as it is written. */
            event_at_precision?: components["schemas"]["TimePrecision"] | null;
            /**
             * Event Description
             * @description What happened.
             * @example joined platform team
             */
            event_description: string;
            /** Evidence */
            evidence?: components["schemas"]["EvidenceIn"][];
            /**
             * Evidence Turn Id
             * @description Short for evidence with just a turn_id.
             */
            evidence_turn_id?: string | null;
            /**
             * Extractor Confidence
             * @description Confidence of the extraction.
             */
            extractor_confidence?: number | null;
            /**
             * Importance
             * @description The importance, from 0 to 1, independent of confidence; by default the type's.
             */
            importance?: number | null;
            /**
             * Metadata
             * @description Anything else; questions and lists can filter by it.
             */
            metadata?: {
                [key: string]: unknown;
            };
            /**
             * Occurred At
             * @description When it was stated; now by default. A later statement replaces an earlier.
             */
            occurred_at?: string | null;
            /**
             * Participants
             * @description Who took part.
             * @default []
             */
            participants?: string[];
            /**
             * Provenance
             * @description Your own record of the memory's origin.
             */
            provenance?: {
                [key: string]: unknown;
            };
            /** @description Who sees it: everyone of the tenant, one user, or one agent. By default, with `user_id` that user's, whichever agent it was, unless the type's own scope is the agent; with `agent_id` alone that agent's, unless the type's own scope is global; with neither, global. */
            scope?: components["schemas"]["ScopeKind"] | null;
            /**
             * Sequence Number
             * @description Its place in the session.
             */
            sequence_number?: number | null;
            /**
             * Session Id
             * @description Your id of the conversation.
             */
            session_id?: string | null;
            /**
             * Source Confidence
             * @description The source strength.
             */
            source_confidence?: number | null;
            /**
             * @description The speech act; only an assertion can become an active belief.
             * @default assertion
             */
            speech_act?: components["schemas"]["SpeechAct"];
            /**
             * Timezone
             * @description Where times without an offset are read.
             */
            timezone?: string | null;
            /**
             * Topic
             * @description A topic of your own choice, to filter by.
             */
            topic?: string | null;
            /**
             * Ttl Seconds
             * @description Instead of valid_until: how long it is true, in seconds from valid_from, or else from when it was stated.
             */
            ttl_seconds?: number | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "event";
            /**
             * User Id
             * @description Your id of the user: what is stored is that user's, what is asked or listed is what they may see.
             */
            user_id?: string | null;
            /**
             * Valid From
             * @description Since when it is true.
             */
            valid_from?: string | null;
            /**
             * Valid Until
             * @description Until when it is true. What repeats a memory, and was not stated before it, moves its end; without one it leaves it as it is.
             */
            valid_until?: string | null;
        };
        /**
         * EventMemory
         * @description Something that happened at a time, or will; two events never replace one another.
         */
        EventMemory: {
            /**
             * Access Count
             * @description Uses that count: what `not_useful` took back is not among them.
             */
            access_count: number;
            /** Agent Id */
            agent_id: string | null;
            category: components["schemas"]["Category"];
            /** Confidence */
            confidence: number;
            confidence_parts: components["schemas"]["ConfidencePartsOut"];
            /** Content */
            content: string;
            /** Contested */
            contested: boolean;
            /**
             * Distinct Sessions
             * @description Sessions it was used in, as far as they are kept (16).
             */
            distinct_sessions: number;
            /**
             * Event At
             * @description When: a date, or a date and time; without an offset it is in the request's time zone.
             * @example 2026-05-09
             */
            event_at?: string | null;
            /** @description How exactly the time is known; by default as exact as it is written. */
            event_at_precision?: components["schemas"]["TimePrecision"] | null;
            /**
             * Event Description
             * @description What happened.
             * @example joined platform team
             */
            event_description: string;
            /** Evidence */
            evidence: components["schemas"]["EvidenceOut"][];
            /** Freshness */
            freshness: number;
            /**
             * Id
             * @example mem_0198c5a2f0a87b3c9d2e4f6a8b0c1d2e
             */
            id: string;
            /** Importance */
            importance: number;
            /** Last Accessed At */
            last_accessed_at: string | null;
            /** Links */
            links: components["schemas"]["LinkOut"][];
            /** Metadata */
            metadata: {
                [key: string]: unknown;
            };
            /** Needs Review */
            needs_review: boolean;
            /** Not Useful Count */
            not_useful_count: number;
            /**
             * Occurred At
             * Format: date-time
             * @description When it was said, by the latest that said so.
             */
            occurred_at: string;
            /**
             * Participants
             * @description Who took part.
             * @default []
             */
            participants?: string[];
            /** Provenance */
            provenance: {
                [key: string]: unknown;
            };
            /**
             * Recorded At
             * Format: date-time
             */
            recorded_at: string;
            /** Retired At */
            retired_at: string | null;
            review_reason: components["schemas"]["ReviewReason"] | null;
            scope: components["schemas"]["ScopeKind"];
            /** Sequence Number */
            sequence_number: number | null;
            /** Session Id */
            session_id: string | null;
            /**
             * Slot
             * @description The key under which only one value can be true at a time.
             */
            slot: string | null;
            speech_act: components["schemas"]["SpeechAct"];
            /**
             * Stability
             * @description From 0 to 1: grows with uses that lie days apart.
             */
            stability: number;
            status: components["schemas"]["MemoryStatus"];
            /** Subject */
            subject: string | null;
            /** Superseded By */
            superseded_by: string | null;
            /** Supersedes */
            supersedes: string | null;
            /** Topic */
            topic: string | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "event";
            /** Useful Count */
            useful_count: number;
            /** User Id */
            user_id: string | null;
            /**
             * Valid From
             * Format: date-time
             */
            valid_from: string;
            /** Valid Until */
            valid_until: string | null;
            /** Wrong Count */
            wrong_count: number;
        };
        /**
         * EventWrite
         * @description Something that happened at a time, or will; two events never replace one another.
         * @example {
         *       "event_at": "2026-05-09",
         *       "event_description": "user joined the platform team",
         *       "user_id": "ana"
         *     }
         */
        EventWrite: {
            /**
             * Agent Id
             * @description Your id of the agent: what is stored is that agent's, what is asked or listed is what it may see.
             */
            agent_id?: string | null;
            /** @description The category; by default the type's. */
            category?: components["schemas"]["Category"] | null;
            /**
             * Content
             * @description The sentence to remember, instead of one made from the fields.
             */
            content?: string | null;
            /**
             * Context
             * @description The text just before it: searched, never shown.
             */
            context?: string | null;
            /**
             * Ends
             * @description This is no longer so: nothing is stored, and what is held so ends, `valid_until` saying when (by default, when it is stated; what ends later holds until then). Answered with `ended`, or why nothing ended. For types that hold values.
             * @default false
             */
            ends?: boolean;
            /**
             * Event At
             * @description When: a date, or a date and time; without an offset it is in the request's time zone.
             * @example 2026-05-09
             */
            event_at?: string | null;
            /** @description How exactly the time is known; by default as exact as it is written. */
            event_at_precision?: components["schemas"]["TimePrecision"] | null;
            /**
             * Event Description
             * @description What happened.
             * @example joined platform team
             */
            event_description: string;
            /** Evidence */
            evidence?: components["schemas"]["EvidenceIn"][];
            /**
             * Evidence Turn Id
             * @description Short for evidence with just a turn_id.
             */
            evidence_turn_id?: string | null;
            /**
             * Extractor Confidence
             * @description Confidence of the extraction.
             */
            extractor_confidence?: number | null;
            /**
             * Importance
             * @description The importance, from 0 to 1, independent of confidence; by default the type's.
             */
            importance?: number | null;
            /**
             * Metadata
             * @description Anything else; questions and lists can filter by it.
             */
            metadata?: {
                [key: string]: unknown;
            };
            /**
             * Occurred At
             * @description When it was stated; now by default. A later statement replaces an earlier.
             */
            occurred_at?: string | null;
            /**
             * Participants
             * @description Who took part.
             * @default []
             */
            participants?: string[];
            /**
             * Provenance
             * @description Your own record of the memory's origin.
             */
            provenance?: {
                [key: string]: unknown;
            };
            /** @description Who sees it: everyone of the tenant, one user, or one agent. By default, with `user_id` that user's, whichever agent it was, unless the type's own scope is the agent; with `agent_id` alone that agent's, unless the type's own scope is global; with neither, global. */
            scope?: components["schemas"]["ScopeKind"] | null;
            /**
             * Sequence Number
             * @description Its place in the session.
             */
            sequence_number?: number | null;
            /**
             * Session Id
             * @description Your id of the conversation.
             */
            session_id?: string | null;
            /**
             * Source Confidence
             * @description The source strength.
             */
            source_confidence?: number | null;
            /**
             * @description The speech act; only an assertion can become an active belief.
             * @default assertion
             */
            speech_act?: components["schemas"]["SpeechAct"];
            /**
             * Timezone
             * @description Where times without an offset are read.
             */
            timezone?: string | null;
            /**
             * Topic
             * @description A topic of your own choice, to filter by.
             */
            topic?: string | null;
            /**
             * Ttl Seconds
             * @description Instead of valid_until: how long it is true, in seconds from valid_from, or else from when it was stated.
             */
            ttl_seconds?: number | null;
            /**
             * Type
             * @description May be left out: the route says it.
             */
            type?: "event" | null;
            /**
             * User Id
             * @description Your id of the user: what is stored is that user's, what is asked or listed is what they may see.
             */
            user_id?: string | null;
            /**
             * Valid From
             * @description Since when it is true.
             */
            valid_from?: string | null;
            /**
             * Valid Until
             * @description Until when it is true. What repeats a memory, and was not stated before it, moves its end; without one it leaves it as it is.
             */
            valid_until?: string | null;
        };
        /**
         * EvidenceIn
         * @description The source of the memory.
         */
        EvidenceIn: {
            /**
             * Quote
             * @description The words, as they were said.
             */
            quote?: string | null;
            /**
             * Role
             * @description Who said them.
             * @example user
             */
            role?: string | null;
            /**
             * Turn Id
             * @description The turn they are from.
             */
            turn_id?: string | null;
        };
        /**
         * EvidenceOut
         * @description The source of a memory.
         */
        EvidenceOut: {
            /**
             * Occurred At
             * Format: date-time
             */
            occurred_at: string;
            /** Quote */
            quote: string | null;
            /** Role */
            role: string | null;
            /** Session Id */
            session_id: string | null;
            /** Turn Id */
            turn_id: string | null;
        };
        /**
         * ExtractionInstructions
         * @description Instructions of what to remember and what never, in plain words and by names.
         */
        ExtractionInstructions: {
            /**
             * Exclude
             * @description What never to remember, in a few words each. The name of a memory type, a predicate, a preference key (or the beginning of one) or a topic holds for every proposal, whoever makes it; other words are for the language model.
             * @default []
             * @example [
             *       "medication",
             *       "works-at",
             *       "what they think of colleagues"
             *     ]
             */
            exclude?: string[];
            /**
             * Include
             * @description What to remember above all, in a few words each; nothing else is left out for it.
             * @default []
             * @example [
             *       "serial numbers of machines"
             *     ]
             */
            include?: string[];
            /**
             * Instructions
             * @description What to remember and how, in plain words, for the language model. They choose among what may be remembered: grounding, guards and types stay as they are. The built-in rules read no words.
             * @example Remember what customers say of their machines. Leave out our own staff.
             */
            instructions?: string | null;
        };
        /**
         * FactItem
         * @description A stable predicate about someone or something, true until it is replaced.
         * @example {
         *       "object": "Volkswagen",
         *       "predicate": "works-at",
         *       "subject": "user",
         *       "type": "fact",
         *       "user_id": "ana"
         *     }
         */
        FactItem: {
            /**
             * Agent Id
             * @description Your id of the agent: what is stored is that agent's, what is asked or listed is what it may see.
             */
            agent_id?: string | null;
            /** @description The category; by default the type's. */
            category?: components["schemas"]["Category"] | null;
            /**
             * Content
             * @description The sentence to remember, instead of one made from the fields.
             */
            content?: string | null;
            /**
             * Context
             * @description The text just before it: searched, never shown.
             */
            context?: string | null;
            /**
             * Ends
             * @description This is no longer so: nothing is stored, and what is held so ends, `valid_until` saying when (by default, when it is stated; what ends later holds until then). Answered with `ended`, or why nothing ended. For types that hold values.
             * @default false
             */
            ends?: boolean;
            /** Evidence */
            evidence?: components["schemas"]["EvidenceIn"][];
            /**
             * Evidence Turn Id
             * @description Short for evidence with just a turn_id.
             */
            evidence_turn_id?: string | null;
            /**
             * Extractor Confidence
             * @description Confidence of the extraction.
             */
            extractor_confidence?: number | null;
            /**
             * Importance
             * @description The importance, from 0 to 1, independent of confidence; by default the type's.
             */
            importance?: number | null;
            /**
             * Metadata
             * @description Anything else; questions and lists can filter by it.
             */
            metadata?: {
                [key: string]: unknown;
            };
            /**
             * Object
             * @description The value: an entity's name or a literal.
             * @example Volkswagen
             */
            object: string;
            /**
             * Occurred At
             * @description When it was stated; now by default. A later statement replaces an earlier.
             */
            occurred_at?: string | null;
            /**
             * Predicate
             * @description What is said, hyphenated.
             * @example works-at
             */
            predicate: string;
            /**
             * Provenance
             * @description Your own record of the memory's origin.
             */
            provenance?: {
                [key: string]: unknown;
            };
            /** @description Who sees it: everyone of the tenant, one user, or one agent. By default, with `user_id` that user's, whichever agent it was, unless the type's own scope is the agent; with `agent_id` alone that agent's, unless the type's own scope is global; with neither, global. */
            scope?: components["schemas"]["ScopeKind"] | null;
            /**
             * Sequence Number
             * @description Its place in the session.
             */
            sequence_number?: number | null;
            /**
             * Session Id
             * @description Your id of the conversation.
             */
            session_id?: string | null;
            /**
             * Source Confidence
             * @description The source strength.
             */
            source_confidence?: number | null;
            /**
             * @description The speech act; only an assertion can become an active belief.
             * @default assertion
             */
            speech_act?: components["schemas"]["SpeechAct"];
            /**
             * Stateful
             * @description Whether only one value can be true at a time, so that another one replaces it; false where several stand side by side. If not given, what the slot holds already decides, then the predicate.
             */
            stateful?: boolean | null;
            /**
             * Subject
             * @description Who or what the fact is about.
             * @default user
             * @example user
             */
            subject?: string;
            /**
             * Timezone
             * @description Where times without an offset are read.
             */
            timezone?: string | null;
            /**
             * Topic
             * @description A topic of your own choice, to filter by.
             */
            topic?: string | null;
            /**
             * Ttl Seconds
             * @description Instead of valid_until: how long it is true, in seconds from valid_from, or else from when it was stated.
             */
            ttl_seconds?: number | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "fact";
            /**
             * User Id
             * @description Your id of the user: what is stored is that user's, what is asked or listed is what they may see.
             */
            user_id?: string | null;
            /**
             * Valid From
             * @description Since when it is true.
             */
            valid_from?: string | null;
            /**
             * Valid Until
             * @description Until when it is true. What repeats a memory, and was not stated before it, moves its end; without one it leaves it as it is.
             */
            valid_until?: string | null;
        };
        /**
         * FactMemory
         * @description A stable predicate about someone or something, true until it is replaced.
         */
        FactMemory: {
            /**
             * Access Count
             * @description Uses that count: what `not_useful` took back is not among them.
             */
            access_count: number;
            /** Agent Id */
            agent_id: string | null;
            category: components["schemas"]["Category"];
            /** Confidence */
            confidence: number;
            confidence_parts: components["schemas"]["ConfidencePartsOut"];
            /** Content */
            content: string;
            /** Contested */
            contested: boolean;
            /**
             * Distinct Sessions
             * @description Sessions it was used in, as far as they are kept (16).
             */
            distinct_sessions: number;
            /** Evidence */
            evidence: components["schemas"]["EvidenceOut"][];
            /** Freshness */
            freshness: number;
            /**
             * Id
             * @example mem_0198c5a2f0a87b3c9d2e4f6a8b0c1d2e
             */
            id: string;
            /** Importance */
            importance: number;
            /** Last Accessed At */
            last_accessed_at: string | null;
            /** Links */
            links: components["schemas"]["LinkOut"][];
            /** Metadata */
            metadata: {
                [key: string]: unknown;
            };
            /** Needs Review */
            needs_review: boolean;
            /** Not Useful Count */
            not_useful_count: number;
            /**
             * Object
             * @description The value: an entity's name or a literal.
             * @example Volkswagen
             */
            object: string;
            /**
             * Occurred At
             * Format: date-time
             * @description When it was said, by the latest that said so.
             */
            occurred_at: string;
            /**
             * Predicate
             * @description What is said, hyphenated.
             * @example works-at
             */
            predicate: string;
            /** Provenance */
            provenance: {
                [key: string]: unknown;
            };
            /**
             * Recorded At
             * Format: date-time
             */
            recorded_at: string;
            /** Retired At */
            retired_at: string | null;
            review_reason: components["schemas"]["ReviewReason"] | null;
            scope: components["schemas"]["ScopeKind"];
            /** Sequence Number */
            sequence_number: number | null;
            /** Session Id */
            session_id: string | null;
            /**
             * Slot
             * @description The key under which only one value can be true at a time.
             */
            slot: string | null;
            speech_act: components["schemas"]["SpeechAct"];
            /**
             * Stability
             * @description From 0 to 1: grows with uses that lie days apart.
             */
            stability: number;
            /**
             * Stateful
             * @description Whether only one value can be true at a time, so that another one replaces it; false where several stand side by side. If not given, what the slot holds already decides, then the predicate.
             */
            stateful?: boolean | null;
            status: components["schemas"]["MemoryStatus"];
            /**
             * Subject
             * @description Who or what the fact is about.
             * @default user
             * @example user
             */
            subject?: string;
            /** Superseded By */
            superseded_by: string | null;
            /** Supersedes */
            supersedes: string | null;
            /** Topic */
            topic: string | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "fact";
            /** Useful Count */
            useful_count: number;
            /** User Id */
            user_id: string | null;
            /**
             * Valid From
             * Format: date-time
             */
            valid_from: string;
            /** Valid Until */
            valid_until: string | null;
            /** Wrong Count */
            wrong_count: number;
        };
        /**
         * FactWrite
         * @description A stable predicate about someone or something, true until it is replaced.
         * @example {
         *       "object": "Volkswagen",
         *       "predicate": "works-at",
         *       "subject": "user",
         *       "user_id": "ana"
         *     }
         */
        FactWrite: {
            /**
             * Agent Id
             * @description Your id of the agent: what is stored is that agent's, what is asked or listed is what it may see.
             */
            agent_id?: string | null;
            /** @description The category; by default the type's. */
            category?: components["schemas"]["Category"] | null;
            /**
             * Content
             * @description The sentence to remember, instead of one made from the fields.
             */
            content?: string | null;
            /**
             * Context
             * @description The text just before it: searched, never shown.
             */
            context?: string | null;
            /**
             * Ends
             * @description This is no longer so: nothing is stored, and what is held so ends, `valid_until` saying when (by default, when it is stated; what ends later holds until then). Answered with `ended`, or why nothing ended. For types that hold values.
             * @default false
             */
            ends?: boolean;
            /** Evidence */
            evidence?: components["schemas"]["EvidenceIn"][];
            /**
             * Evidence Turn Id
             * @description Short for evidence with just a turn_id.
             */
            evidence_turn_id?: string | null;
            /**
             * Extractor Confidence
             * @description Confidence of the extraction.
             */
            extractor_confidence?: number | null;
            /**
             * Importance
             * @description The importance, from 0 to 1, independent of confidence; by default the type's.
             */
            importance?: number | null;
            /**
             * Metadata
             * @description Anything else; questions and lists can filter by it.
             */
            metadata?: {
                [key: string]: unknown;
            };
            /**
             * Object
             * @description The value: an entity's name or a literal.
             * @example Volkswagen
             */
            object: string;
            /**
             * Occurred At
             * @description When it was stated; now by default. A later statement replaces an earlier.
             */
            occurred_at?: string | null;
            /**
             * Predicate
             * @description What is said, hyphenated.
             * @example works-at
             */
            predicate: string;
            /**
             * Provenance
             * @description Your own record of the memory's origin.
             */
            provenance?: {
                [key: string]: unknown;
            };
            /** @description Who sees it: everyone of the tenant, one user, or one agent. By default, with `user_id` that user's, whichever agent it was, unless the type's own scope is the agent; with `agent_id` alone that agent's, unless the type's own scope is global; with neither, global. */
            scope?: components["schemas"]["ScopeKind"] | null;
            /**
             * Sequence Number
             * @description Its place in the session.
             */
            sequence_number?: number | null;
            /**
             * Session Id
             * @description Your id of the conversation.
             */
            session_id?: string | null;
            /**
             * Source Confidence
             * @description The source strength.
             */
            source_confidence?: number | null;
            /**
             * @description The speech act; only an assertion can become an active belief.
             * @default assertion
             */
            speech_act?: components["schemas"]["SpeechAct"];
            /**
             * Stateful
             * @description Whether only one value can be true at a time, so that another one replaces it; false where several stand side by side. If not given, what the slot holds already decides, then the predicate.
             */
            stateful?: boolean | null;
            /**
             * Subject
             * @description Who or what the fact is about.
             * @default user
             * @example user
             */
            subject?: string;
            /**
             * Timezone
             * @description Where times without an offset are read.
             */
            timezone?: string | null;
            /**
             * Topic
             * @description A topic of your own choice, to filter by.
             */
            topic?: string | null;
            /**
             * Ttl Seconds
             * @description Instead of valid_until: how long it is true, in seconds from valid_from, or else from when it was stated.
             */
            ttl_seconds?: number | null;
            /**
             * Type
             * @description May be left out: the route says it.
             */
            type?: "fact" | null;
            /**
             * User Id
             * @description Your id of the user: what is stored is that user's, what is asked or listed is what they may see.
             */
            user_id?: string | null;
            /**
             * Valid From
             * @description Since when it is true.
             */
            valid_from?: string | null;
            /**
             * Valid Until
             * @description Until when it is true. What repeats a memory, and was not stated before it, moves its end; without one it leaves it as it is.
             */
            valid_until?: string | null;
        };
        /**
         * FeatureItem
         * @description Whether a feature is done, and what is known about it.
         * @example {
         *       "content": "Login with passkeys works.",
         *       "feature_key": "passkeys",
         *       "feature_status": "complete",
         *       "type": "feature",
         *       "user_id": "ana"
         *     }
         */
        FeatureItem: {
            /**
             * Agent Id
             * @description Your id of the agent: what is stored is that agent's, what is asked or listed is what it may see.
             */
            agent_id?: string | null;
            /** @description The category; by default the type's. */
            category?: components["schemas"]["Category"] | null;
            /**
             * Content
             * @description Whether a feature is done, and what is known about it.
             */
            content: string;
            /**
             * Context
             * @description The text just before it: searched, never shown.
             */
            context?: string | null;
            /**
             * Ends
             * @description This is no longer so: nothing is stored, and what is held so ends, `valid_until` saying when (by default, when it is stated; what ends later holds until then). Answered with `ended`, or why nothing ended. For types that hold values.
             * @default false
             */
            ends?: boolean;
            /** Evidence */
            evidence?: components["schemas"]["EvidenceIn"][];
            /**
             * Evidence Turn Id
             * @description Short for evidence with just a turn_id.
             */
            evidence_turn_id?: string | null;
            /**
             * Extractor Confidence
             * @description Confidence of the extraction.
             */
            extractor_confidence?: number | null;
            /**
             * Feature Key
             * @description The feature; a later statement on it replaces this one.
             */
            feature_key?: string | null;
            /**
             * Feature Status
             * @description Such as `in_progress` or `complete`.
             */
            feature_status?: string | null;
            /**
             * Importance
             * @description The importance, from 0 to 1, independent of confidence; by default the type's.
             */
            importance?: number | null;
            /**
             * Metadata
             * @description Anything else; questions and lists can filter by it.
             */
            metadata?: {
                [key: string]: unknown;
            };
            /**
             * Occurred At
             * @description When it was stated; now by default. A later statement replaces an earlier.
             */
            occurred_at?: string | null;
            /**
             * Provenance
             * @description Your own record of the memory's origin.
             */
            provenance?: {
                [key: string]: unknown;
            };
            /** @description Who sees it: everyone of the tenant, one user, or one agent. By default, with `user_id` that user's, whichever agent it was, unless the type's own scope is the agent; with `agent_id` alone that agent's, unless the type's own scope is global; with neither, global. */
            scope?: components["schemas"]["ScopeKind"] | null;
            /**
             * Sequence Number
             * @description Its place in the session.
             */
            sequence_number?: number | null;
            /**
             * Session Id
             * @description Your id of the conversation.
             */
            session_id?: string | null;
            /**
             * Source Confidence
             * @description The source strength.
             */
            source_confidence?: number | null;
            /**
             * @description The speech act; only an assertion can become an active belief.
             * @default assertion
             */
            speech_act?: components["schemas"]["SpeechAct"];
            /**
             * Timezone
             * @description Where times without an offset are read.
             */
            timezone?: string | null;
            /**
             * Topic
             * @description A topic of your own choice, to filter by.
             */
            topic?: string | null;
            /**
             * Ttl Seconds
             * @description Instead of valid_until: how long it is true, in seconds from valid_from, or else from when it was stated.
             */
            ttl_seconds?: number | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "feature";
            /**
             * User Id
             * @description Your id of the user: what is stored is that user's, what is asked or listed is what they may see.
             */
            user_id?: string | null;
            /**
             * Valid From
             * @description Since when it is true.
             */
            valid_from?: string | null;
            /**
             * Valid Until
             * @description Until when it is true. What repeats a memory, and was not stated before it, moves its end; without one it leaves it as it is.
             */
            valid_until?: string | null;
        };
        /**
         * FeatureMemory
         * @description Whether a feature is done, and what is known about it.
         */
        FeatureMemory: {
            /**
             * Access Count
             * @description Uses that count: what `not_useful` took back is not among them.
             */
            access_count: number;
            /** Agent Id */
            agent_id: string | null;
            category: components["schemas"]["Category"];
            /** Confidence */
            confidence: number;
            confidence_parts: components["schemas"]["ConfidencePartsOut"];
            /**
             * Content
             * @description Whether a feature is done, and what is known about it.
             */
            content: string;
            /** Contested */
            contested: boolean;
            /**
             * Distinct Sessions
             * @description Sessions it was used in, as far as they are kept (16).
             */
            distinct_sessions: number;
            /** Evidence */
            evidence: components["schemas"]["EvidenceOut"][];
            /**
             * Feature Key
             * @description The feature; a later statement on it replaces this one.
             */
            feature_key?: string | null;
            /**
             * Feature Status
             * @description Such as `in_progress` or `complete`.
             */
            feature_status?: string | null;
            /** Freshness */
            freshness: number;
            /**
             * Id
             * @example mem_0198c5a2f0a87b3c9d2e4f6a8b0c1d2e
             */
            id: string;
            /** Importance */
            importance: number;
            /** Last Accessed At */
            last_accessed_at: string | null;
            /** Links */
            links: components["schemas"]["LinkOut"][];
            /** Metadata */
            metadata: {
                [key: string]: unknown;
            };
            /** Needs Review */
            needs_review: boolean;
            /** Not Useful Count */
            not_useful_count: number;
            /**
             * Occurred At
             * Format: date-time
             * @description When it was said, by the latest that said so.
             */
            occurred_at: string;
            /** Provenance */
            provenance: {
                [key: string]: unknown;
            };
            /**
             * Recorded At
             * Format: date-time
             */
            recorded_at: string;
            /** Retired At */
            retired_at: string | null;
            review_reason: components["schemas"]["ReviewReason"] | null;
            scope: components["schemas"]["ScopeKind"];
            /** Sequence Number */
            sequence_number: number | null;
            /** Session Id */
            session_id: string | null;
            /**
             * Slot
             * @description The key under which only one value can be true at a time.
             */
            slot: string | null;
            speech_act: components["schemas"]["SpeechAct"];
            /**
             * Stability
             * @description From 0 to 1: grows with uses that lie days apart.
             */
            stability: number;
            status: components["schemas"]["MemoryStatus"];
            /** Subject */
            subject: string | null;
            /** Superseded By */
            superseded_by: string | null;
            /** Supersedes */
            supersedes: string | null;
            /** Topic */
            topic: string | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "feature";
            /** Useful Count */
            useful_count: number;
            /** User Id */
            user_id: string | null;
            /**
             * Valid From
             * Format: date-time
             */
            valid_from: string;
            /** Valid Until */
            valid_until: string | null;
            /** Wrong Count */
            wrong_count: number;
        };
        /**
         * FeatureWrite
         * @description Whether a feature is done, and what is known about it.
         * @example {
         *       "content": "Login with passkeys works.",
         *       "feature_key": "passkeys",
         *       "feature_status": "complete",
         *       "user_id": "ana"
         *     }
         */
        FeatureWrite: {
            /**
             * Agent Id
             * @description Your id of the agent: what is stored is that agent's, what is asked or listed is what it may see.
             */
            agent_id?: string | null;
            /** @description The category; by default the type's. */
            category?: components["schemas"]["Category"] | null;
            /**
             * Content
             * @description Whether a feature is done, and what is known about it.
             */
            content: string;
            /**
             * Context
             * @description The text just before it: searched, never shown.
             */
            context?: string | null;
            /**
             * Ends
             * @description This is no longer so: nothing is stored, and what is held so ends, `valid_until` saying when (by default, when it is stated; what ends later holds until then). Answered with `ended`, or why nothing ended. For types that hold values.
             * @default false
             */
            ends?: boolean;
            /** Evidence */
            evidence?: components["schemas"]["EvidenceIn"][];
            /**
             * Evidence Turn Id
             * @description Short for evidence with just a turn_id.
             */
            evidence_turn_id?: string | null;
            /**
             * Extractor Confidence
             * @description Confidence of the extraction.
             */
            extractor_confidence?: number | null;
            /**
             * Feature Key
             * @description The feature; a later statement on it replaces this one.
             */
            feature_key?: string | null;
            /**
             * Feature Status
             * @description Such as `in_progress` or `complete`.
             */
            feature_status?: string | null;
            /**
             * Importance
             * @description The importance, from 0 to 1, independent of confidence; by default the type's.
             */
            importance?: number | null;
            /**
             * Metadata
             * @description Anything else; questions and lists can filter by it.
             */
            metadata?: {
                [key: string]: unknown;
            };
            /**
             * Occurred At
             * @description When it was stated; now by default. A later statement replaces an earlier.
             */
            occurred_at?: string | null;
            /**
             * Provenance
             * @description Your own record of the memory's origin.
             */
            provenance?: {
                [key: string]: unknown;
            };
            /** @description Who sees it: everyone of the tenant, one user, or one agent. By default, with `user_id` that user's, whichever agent it was, unless the type's own scope is the agent; with `agent_id` alone that agent's, unless the type's own scope is global; with neither, global. */
            scope?: components["schemas"]["ScopeKind"] | null;
            /**
             * Sequence Number
             * @description Its place in the session.
             */
            sequence_number?: number | null;
            /**
             * Session Id
             * @description Your id of the conversation.
             */
            session_id?: string | null;
            /**
             * Source Confidence
             * @description The source strength.
             */
            source_confidence?: number | null;
            /**
             * @description The speech act; only an assertion can become an active belief.
             * @default assertion
             */
            speech_act?: components["schemas"]["SpeechAct"];
            /**
             * Timezone
             * @description Where times without an offset are read.
             */
            timezone?: string | null;
            /**
             * Topic
             * @description A topic of your own choice, to filter by.
             */
            topic?: string | null;
            /**
             * Ttl Seconds
             * @description Instead of valid_until: how long it is true, in seconds from valid_from, or else from when it was stated.
             */
            ttl_seconds?: number | null;
            /**
             * Type
             * @description May be left out: the route says it.
             */
            type?: "feature" | null;
            /**
             * User Id
             * @description Your id of the user: what is stored is that user's, what is asked or listed is what they may see.
             */
            user_id?: string | null;
            /**
             * Valid From
             * @description Since when it is true.
             */
            valid_from?: string | null;
            /**
             * Valid Until
             * @description Until when it is true. What repeats a memory, and was not stated before it, moves its end; without one it leaves it as it is.
             */
            valid_until?: string | null;
        };
        /**
         * FeedbackBody
         * @description Feedback on a memory.
         * @example {
         *       "feedback": "useful",
         *       "session_id": "monday"
         *     }
         */
        FeedbackBody: {
            /** @description `useful` counts as a use; `not_useful` takes the last use back, so that it fades sooner; `wrong` has a person look at it before anybody is told it again. */
            feedback: components["schemas"]["FeedbackKind"];
            /**
             * Note
             * @description The reason, stored in the memory's provenance for reviewers.
             */
            note?: string | null;
            /**
             * Now
             * @description Time of the feedback; by default the present.
             */
            now?: string | null;
            /**
             * Session Id
             * @description The conversation it was used in.
             */
            session_id?: string | null;
        };
        /**
         * FeedbackEffect
         * @description The effect of feedback on a memory.
         * @enum {string}
         */
        FeedbackEffect: "counted" | "revived" | "sent_to_review" | "marked_for_review" | "already_in_review";
        /**
         * FeedbackKind
         * @description A caller's feedback on a memory.
         * @enum {string}
         */
        FeedbackKind: "useful" | "not_useful" | "wrong";
        /**
         * FeedbackResult
         * @description The memory after the feedback, and the effect of the feedback.
         */
        FeedbackResult: {
            effect: components["schemas"]["FeedbackEffect"];
            feedback: components["schemas"]["FeedbackKind"];
            freshness: components["schemas"]["FreshnessOut"];
            memory: components["schemas"]["Memory"];
            /** Reason */
            reason: string;
        };
        /**
         * FieldError
         * @description A fault of a field: its path with dots, and the message.
         */
        FieldError: {
            /**
             * Field
             * @example memories.3.preference_key
             */
            field: string;
            /**
             * Message
             * @example is required
             */
            message: string;
        };
        /**
         * FormerAttributeOut
         * @description A value that an attribute had.
         */
        FormerAttributeOut: {
            /** Name */
            name: string;
            /**
             * Retired At
             * Format: date-time
             * @description When the service learnt another value.
             */
            retired_at: string;
            /** Value */
            value: unknown;
        };
        /**
         * FreshnessOut
         * @description Freshness at this time, without and with this feedback.
         */
        FreshnessOut: {
            /** After */
            after: number;
            /** Before */
            before: number;
        };
        /**
         * GraphOut
         * @description An entity and the relations around it, nearest first.
         */
        GraphOut: {
            entity: components["schemas"]["EntityOut"];
            /** Relations */
            relations: components["schemas"]["EdgeOut"][];
        };
        /**
         * GroupOut
         * @description One group of the context block.
         */
        GroupOut: {
            /** Lines */
            lines: string[];
            /** Name */
            name: string;
        };
        /**
         * HeedMode
         * @description The heeded memories that the context shows: those that the question touches, all, or none.
         * @enum {string}
         */
        HeedMode: "auto" | "all" | "none";
        /**
         * History
         * @description Every version of a belief, oldest statement first, and their audit events.
         */
        History: {
            /** Events */
            events: components["schemas"]["AuditEvent"][];
            /** Versions */
            versions: components["schemas"]["Memory"][];
        };
        /**
         * Hit
         * @description A found memory: answers are ordered by score; relevance is its fit to the question by itself.
         *
         *     `marks` say why what it says is not how things are, or how often it was said. `arms` and `notes` are details.
         */
        Hit: {
            /** Arms */
            arms: components["schemas"]["ArmOut"][];
            /** Confidence */
            confidence: number;
            /** Freshness */
            freshness: number;
            /** Marks */
            marks: string[];
            memory: components["schemas"]["RecalledMemoryOut"];
            /** Notes */
            notes: string[];
            /** Relevance */
            relevance: number;
            /** Retrieval */
            retrieval: number;
            /** Score */
            score: number;
        };
        /**
         * IdStyle
         * @description The name of a memory on its line of the context: none, its place among the answers, or its id.
         * @enum {string}
         */
        IdStyle: "none" | "short" | "full";
        /**
         * IgnoredOut
         * @description A message without anything to remember: its position in the request, from 0, and the reason.
         *
         *     With `fields`, it is kept, without these fields or content parts.
         */
        IgnoredOut: {
            /** Fields */
            fields: string[];
            /** Place */
            place: number;
            /** Reason */
            reason: string;
        };
        /**
         * IngestMode
         * @description The mode of processing: `sync` waits for the decisions, `async` queues a job, `batch` one that may take a day.
         * @enum {string}
         */
        IngestMode: "async" | "sync" | "batch";
        /**
         * JobOut
         * @description A background job. `error` says why it failed, or why it is retried.
         */
        JobOut: {
            /** Attempts */
            attempts: number;
            /** Cancel Requested */
            cancel_requested: boolean;
            /**
             * Created At
             * Format: date-time
             */
            created_at: string;
            /** Error */
            error: string | null;
            /** Finished At */
            finished_at: string | null;
            /** Id */
            id: string;
            /** Kind */
            kind: string;
            progress: components["schemas"]["JobProgress"];
            /**
             * Result
             * @description The result, by kind: of `ingest`, `turns`, each with its `status` and `candidates`, and of these the `type`, `decision`, `reason` and `memory_id`. Null until it has succeeded.
             */
            result: {
                [key: string]: unknown;
            } | null;
            /** Started At */
            started_at: string | null;
            status: components["schemas"]["JobStatus"];
        };
        /**
         * JobPage
         * @description Some jobs, newest first.
         */
        JobPage: {
            /** Jobs */
            jobs: components["schemas"]["JobOut"][];
            /** Next Cursor */
            next_cursor: string | null;
        };
        /**
         * JobProgress
         * @description The progress of a job; `total` is null if it isn't known.
         */
        JobProgress: {
            /** Done */
            done: number;
            /** Total */
            total: number | null;
        };
        /**
         * JobStatus
         * @description The status of a background job; the last three are final.
         * @enum {string}
         */
        JobStatus: "queued" | "running" | "succeeded" | "failed" | "cancelled";
        /**
         * LinkKind
         * @description An edge between two memories.
         * @enum {string}
         */
        LinkKind: "supersedes" | "contradicts" | "conflicts-with" | "derived-from";
        /**
         * LinkOut
         * @description An edge to another memory; `direction` says whether it starts here.
         */
        LinkOut: {
            /**
             * Direction
             * @enum {string}
             */
            direction: "out" | "in";
            kind: components["schemas"]["LinkKind"];
            /** Memory Id */
            memory_id: string;
        };
        /**
         * MedicationItem
         * @description A medicine that someone takes, with its dosage; never an illness or a wish.
         * @example {
         *       "dosage": "500 mg",
         *       "frequency": "twice daily",
         *       "medication_name": "metformin",
         *       "prescribed_by": "Dr. Patel",
         *       "subject": "user",
         *       "type": "medication",
         *       "user_id": "ana"
         *     }
         */
        MedicationItem: {
            /**
             * Active
             * @description Whether it is taken now.
             * @default true
             */
            active?: boolean;
            /**
             * Agent Id
             * @description Your id of the agent: what is stored is that agent's, what is asked or listed is what it may see.
             */
            agent_id?: string | null;
            /** @description The category; by default the type's. */
            category?: components["schemas"]["Category"] | null;
            /**
             * Content
             * @description The sentence to remember, instead of one made from the fields.
             */
            content?: string | null;
            /**
             * Context
             * @description The text just before it: searched, never shown.
             */
            context?: string | null;
            /**
             * Dosage
             * @description How much.
             * @example 500 mg
             */
            dosage?: string | null;
            /**
             * Drug Class
             * @description What kind of medicine it is.
             * @example biguanide
             */
            drug_class?: string | null;
            /**
             * Ended At
             * @description Until when.
             */
            ended_at?: string | null;
            /**
             * Ends
             * @description This is no longer so: nothing is stored, and what is held so ends, `valid_until` saying when (by default, when it is stated; what ends later holds until then). Answered with `ended`, or why nothing ended. For types that hold values.
             * @default false
             */
            ends?: boolean;
            /** Evidence */
            evidence?: components["schemas"]["EvidenceIn"][];
            /**
             * Evidence Turn Id
             * @description Short for evidence with just a turn_id.
             */
            evidence_turn_id?: string | null;
            /**
             * Extractor Confidence
             * @description Confidence of the extraction.
             */
            extractor_confidence?: number | null;
            /**
             * Frequency
             * @description How often.
             * @example twice daily
             */
            frequency?: string | null;
            /**
             * Importance
             * @description The importance, from 0 to 1, independent of confidence; by default the type's.
             */
            importance?: number | null;
            /**
             * Medication Name
             * @description The medicine.
             * @example metformin
             */
            medication_name: string;
            /**
             * Metadata
             * @description Anything else; questions and lists can filter by it.
             */
            metadata?: {
                [key: string]: unknown;
            };
            /**
             * Occurred At
             * @description When it was stated; now by default. A later statement replaces an earlier.
             */
            occurred_at?: string | null;
            /**
             * Prescribed By
             * @description Who prescribed it.
             * @example Dr. Patel
             */
            prescribed_by?: string | null;
            /**
             * Provenance
             * @description Your own record of the memory's origin.
             */
            provenance?: {
                [key: string]: unknown;
            };
            /** @description Who sees it: everyone of the tenant, one user, or one agent. By default, with `user_id` that user's, whichever agent it was, unless the type's own scope is the agent; with `agent_id` alone that agent's, unless the type's own scope is global; with neither, global. */
            scope?: components["schemas"]["ScopeKind"] | null;
            /**
             * Sequence Number
             * @description Its place in the session.
             */
            sequence_number?: number | null;
            /**
             * Session Id
             * @description Your id of the conversation.
             */
            session_id?: string | null;
            /**
             * Source Confidence
             * @description The source strength.
             */
            source_confidence?: number | null;
            /**
             * @description The speech act; only an assertion can become an active belief.
             * @default assertion
             */
            speech_act?: components["schemas"]["SpeechAct"];
            /**
             * Started At
             * @description Since when.
             */
            started_at?: string | null;
            /**
             * Subject
             * @description Who takes it.
             * @default user
             */
            subject?: string;
            /**
             * Timezone
             * @description Where times without an offset are read.
             */
            timezone?: string | null;
            /**
             * Topic
             * @description A topic of your own choice, to filter by.
             */
            topic?: string | null;
            /**
             * Ttl Seconds
             * @description Instead of valid_until: how long it is true, in seconds from valid_from, or else from when it was stated.
             */
            ttl_seconds?: number | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "medication";
            /**
             * User Id
             * @description Your id of the user: what is stored is that user's, what is asked or listed is what they may see.
             */
            user_id?: string | null;
            /**
             * Valid From
             * @description Since when it is true.
             */
            valid_from?: string | null;
            /**
             * Valid Until
             * @description Until when it is true. What repeats a memory, and was not stated before it, moves its end; without one it leaves it as it is.
             */
            valid_until?: string | null;
        };
        /**
         * MedicationMemory
         * @description A medicine that someone takes, with its dosage; never an illness or a wish.
         */
        MedicationMemory: {
            /**
             * Access Count
             * @description Uses that count: what `not_useful` took back is not among them.
             */
            access_count: number;
            /**
             * Active
             * @description Whether it is taken now.
             * @default true
             */
            active?: boolean;
            /** Agent Id */
            agent_id: string | null;
            category: components["schemas"]["Category"];
            /** Confidence */
            confidence: number;
            confidence_parts: components["schemas"]["ConfidencePartsOut"];
            /** Content */
            content: string;
            /** Contested */
            contested: boolean;
            /**
             * Distinct Sessions
             * @description Sessions it was used in, as far as they are kept (16).
             */
            distinct_sessions: number;
            /**
             * Dosage
             * @description How much.
             * @example 500 mg
             */
            dosage?: string | null;
            /**
             * Drug Class
             * @description What kind of medicine it is.
             * @example biguanide
             */
            drug_class?: string | null;
            /**
             * Ended At
             * @description Until when.
             */
            ended_at?: string | null;
            /** Evidence */
            evidence: components["schemas"]["EvidenceOut"][];
            /**
             * Frequency
             * @description How often.
             * @example twice daily
             */
            frequency?: string | null;
            /** Freshness */
            freshness: number;
            /**
             * Id
             * @example mem_0198c5a2f0a87b3c9d2e4f6a8b0c1d2e
             */
            id: string;
            /** Importance */
            importance: number;
            /** Last Accessed At */
            last_accessed_at: string | null;
            /** Links */
            links: components["schemas"]["LinkOut"][];
            /**
             * Medication Name
             * @description The medicine.
             * @example metformin
             */
            medication_name: string;
            /** Metadata */
            metadata: {
                [key: string]: unknown;
            };
            /** Needs Review */
            needs_review: boolean;
            /** Not Useful Count */
            not_useful_count: number;
            /**
             * Occurred At
             * Format: date-time
             * @description When it was said, by the latest that said so.
             */
            occurred_at: string;
            /**
             * Prescribed By
             * @description Who prescribed it.
             * @example Dr. Patel
             */
            prescribed_by?: string | null;
            /** Provenance */
            provenance: {
                [key: string]: unknown;
            };
            /**
             * Recorded At
             * Format: date-time
             */
            recorded_at: string;
            /** Retired At */
            retired_at: string | null;
            review_reason: components["schemas"]["ReviewReason"] | null;
            scope: components["schemas"]["ScopeKind"];
            /** Sequence Number */
            sequence_number: number | null;
            /** Session Id */
            session_id: string | null;
            /**
             * Slot
             * @description The key under which only one value can be true at a time.
             */
            slot: string | null;
            speech_act: components["schemas"]["SpeechAct"];
            /**
             * Stability
             * @description From 0 to 1: grows with uses that lie days apart.
             */
            stability: number;
            /**
             * Started At
             * @description Since when.
             */
            started_at?: string | null;
            status: components["schemas"]["MemoryStatus"];
            /**
             * Subject
             * @description Who takes it.
             * @default user
             */
            subject?: string;
            /** Superseded By */
            superseded_by: string | null;
            /** Supersedes */
            supersedes: string | null;
            /** Topic */
            topic: string | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "medication";
            /** Useful Count */
            useful_count: number;
            /** User Id */
            user_id: string | null;
            /**
             * Valid From
             * Format: date-time
             */
            valid_from: string;
            /** Valid Until */
            valid_until: string | null;
            /** Wrong Count */
            wrong_count: number;
        };
        /**
         * MedicationWrite
         * @description A medicine that someone takes, with its dosage; never an illness or a wish.
         * @example {
         *       "dosage": "500 mg",
         *       "frequency": "twice daily",
         *       "medication_name": "metformin",
         *       "prescribed_by": "Dr. Patel",
         *       "subject": "user",
         *       "user_id": "ana"
         *     }
         */
        MedicationWrite: {
            /**
             * Active
             * @description Whether it is taken now.
             * @default true
             */
            active?: boolean;
            /**
             * Agent Id
             * @description Your id of the agent: what is stored is that agent's, what is asked or listed is what it may see.
             */
            agent_id?: string | null;
            /** @description The category; by default the type's. */
            category?: components["schemas"]["Category"] | null;
            /**
             * Content
             * @description The sentence to remember, instead of one made from the fields.
             */
            content?: string | null;
            /**
             * Context
             * @description The text just before it: searched, never shown.
             */
            context?: string | null;
            /**
             * Dosage
             * @description How much.
             * @example 500 mg
             */
            dosage?: string | null;
            /**
             * Drug Class
             * @description What kind of medicine it is.
             * @example biguanide
             */
            drug_class?: string | null;
            /**
             * Ended At
             * @description Until when.
             */
            ended_at?: string | null;
            /**
             * Ends
             * @description This is no longer so: nothing is stored, and what is held so ends, `valid_until` saying when (by default, when it is stated; what ends later holds until then). Answered with `ended`, or why nothing ended. For types that hold values.
             * @default false
             */
            ends?: boolean;
            /** Evidence */
            evidence?: components["schemas"]["EvidenceIn"][];
            /**
             * Evidence Turn Id
             * @description Short for evidence with just a turn_id.
             */
            evidence_turn_id?: string | null;
            /**
             * Extractor Confidence
             * @description Confidence of the extraction.
             */
            extractor_confidence?: number | null;
            /**
             * Frequency
             * @description How often.
             * @example twice daily
             */
            frequency?: string | null;
            /**
             * Importance
             * @description The importance, from 0 to 1, independent of confidence; by default the type's.
             */
            importance?: number | null;
            /**
             * Medication Name
             * @description The medicine.
             * @example metformin
             */
            medication_name: string;
            /**
             * Metadata
             * @description Anything else; questions and lists can filter by it.
             */
            metadata?: {
                [key: string]: unknown;
            };
            /**
             * Occurred At
             * @description When it was stated; now by default. A later statement replaces an earlier.
             */
            occurred_at?: string | null;
            /**
             * Prescribed By
             * @description Who prescribed it.
             * @example Dr. Patel
             */
            prescribed_by?: string | null;
            /**
             * Provenance
             * @description Your own record of the memory's origin.
             */
            provenance?: {
                [key: string]: unknown;
            };
            /** @description Who sees it: everyone of the tenant, one user, or one agent. By default, with `user_id` that user's, whichever agent it was, unless the type's own scope is the agent; with `agent_id` alone that agent's, unless the type's own scope is global; with neither, global. */
            scope?: components["schemas"]["ScopeKind"] | null;
            /**
             * Sequence Number
             * @description Its place in the session.
             */
            sequence_number?: number | null;
            /**
             * Session Id
             * @description Your id of the conversation.
             */
            session_id?: string | null;
            /**
             * Source Confidence
             * @description The source strength.
             */
            source_confidence?: number | null;
            /**
             * @description The speech act; only an assertion can become an active belief.
             * @default assertion
             */
            speech_act?: components["schemas"]["SpeechAct"];
            /**
             * Started At
             * @description Since when.
             */
            started_at?: string | null;
            /**
             * Subject
             * @description Who takes it.
             * @default user
             */
            subject?: string;
            /**
             * Timezone
             * @description Where times without an offset are read.
             */
            timezone?: string | null;
            /**
             * Topic
             * @description A topic of your own choice, to filter by.
             */
            topic?: string | null;
            /**
             * Ttl Seconds
             * @description Instead of valid_until: how long it is true, in seconds from valid_from, or else from when it was stated.
             */
            ttl_seconds?: number | null;
            /**
             * Type
             * @description May be left out: the route says it.
             */
            type?: "medication" | null;
            /**
             * User Id
             * @description Your id of the user: what is stored is that user's, what is asked or listed is what they may see.
             */
            user_id?: string | null;
            /**
             * Valid From
             * @description Since when it is true.
             */
            valid_from?: string | null;
            /**
             * Valid Until
             * @description Until when it is true. What repeats a memory, and was not stated before it, moves its end; without one it leaves it as it is.
             */
            valid_until?: string | null;
        };
        /**
         * Memory
         * @description A memory: of a built-in type, told apart by `type`, or of one of your own, which alone has `payload`.
         */
        Memory: (components["schemas"]["ConstraintMemory"] | components["schemas"]["ControlMemory"] | components["schemas"]["DecisionMemory"] | components["schemas"]["DocumentMemory"] | components["schemas"]["EntityMemory"] | components["schemas"]["EpisodicMemory"] | components["schemas"]["EventMemory"] | components["schemas"]["FactMemory"] | components["schemas"]["FeatureMemory"] | components["schemas"]["MedicationMemory"] | components["schemas"]["PlanMemory"] | components["schemas"]["PreferenceMemory"] | components["schemas"]["ProceduralMemory"] | components["schemas"]["ProgressMemory"] | components["schemas"]["ReflectionMemory"] | components["schemas"]["RelationMemory"] | components["schemas"]["SemanticMemory"] | components["schemas"]["StandardMemory"] | components["schemas"]["StrategyMemory"] | components["schemas"]["TransientStateMemory"]) | components["schemas"]["TenantTypeMemory"];
        /**
         * MemoryPage
         * @description Some memories.
         */
        MemoryPage: {
            /** Memories */
            memories: components["schemas"]["Memory"][];
            /** Next Cursor */
            next_cursor: string | null;
        };
        /**
         * MemorySort
         * @description The order of a listing; a leading minus means descending.
         * @enum {string}
         */
        MemorySort: "-recorded_at" | "recorded_at" | "-importance" | "importance" | "-confidence" | "-occurred_at" | "occurred_at";
        /**
         * MemoryStatus
         * @description The status of a memory in its lifecycle; `pending` waits for review and is never recalled.
         * @enum {string}
         */
        MemoryStatus: "active" | "superseded" | "expired" | "forgotten" | "pending";
        /**
         * NearDuplicate
         * @description A memory that may say the same, by cosine.
         */
        NearDuplicate: {
            memory: components["schemas"]["Memory"];
            /** Similarity */
            similarity: number;
        };
        /**
         * PassageOut
         * @description The statement within its conversation; without a turn if that is not stored.
         */
        PassageOut: {
            /** After */
            after: components["schemas"]["TurnExcerptOut"][];
            /** Before */
            before: components["schemas"]["TurnExcerptOut"][];
            /**
             * Occurred At
             * Format: date-time
             */
            occurred_at: string;
            /** Quote */
            quote: string | null;
            /** Role */
            role: string | null;
            turn: components["schemas"]["TurnExcerptOut"] | null;
        };
        /**
         * PatchBody
         * @description Changes of a memory; its content can only be changed by writing a newer memory.
         * @example {
         *       "importance": 0.9,
         *       "topic": "work"
         *     }
         */
        PatchBody: {
            category?: components["schemas"]["Category"] | null;
            /**
             * Importance
             * @description The importance, from 0 to 1, independent of confidence; by default the type's.
             */
            importance?: number | null;
            /**
             * Metadata
             * @description Takes the place of what was there.
             */
            metadata?: {
                [key: string]: unknown;
            } | null;
            /**
             * Needs Review
             * @description Mark it for review.
             */
            needs_review?: boolean | null;
            /**
             * Topic
             * @description The topic; null for none.
             */
            topic?: string | null;
            /**
             * Ttl Seconds
             * @description Instead of valid_until: how much longer it is true, in seconds from now.
             */
            ttl_seconds?: number | null;
            /**
             * Valid Until
             * @description Until when it is true; null: without an end.
             */
            valid_until?: string | null;
        };
        /**
         * PlanItem
         * @description An intention with a time ahead of it: a trip, a goal, something to be done.
         * @example {
         *       "plan": "visit Tokyo in June",
         *       "subject": "user",
         *       "type": "plan",
         *       "user_id": "ana"
         *     }
         */
        PlanItem: {
            /**
             * Agent Id
             * @description Your id of the agent: what is stored is that agent's, what is asked or listed is what it may see.
             */
            agent_id?: string | null;
            /** @description The category; by default the type's. */
            category?: components["schemas"]["Category"] | null;
            /**
             * Content
             * @description The sentence to remember, instead of one made from the fields.
             */
            content?: string | null;
            /**
             * Context
             * @description The text just before it: searched, never shown.
             */
            context?: string | null;
            /**
             * Ends
             * @description This is no longer so: nothing is stored, and what is held so ends, `valid_until` saying when (by default, when it is stated; what ends later holds until then). Answered with `ended`, or why nothing ended. For types that hold values.
             * @default false
             */
            ends?: boolean;
            /** Evidence */
            evidence?: components["schemas"]["EvidenceIn"][];
            /**
             * Evidence Turn Id
             * @description Short for evidence with just a turn_id.
             */
            evidence_turn_id?: string | null;
            /**
             * Extractor Confidence
             * @description Confidence of the extraction.
             */
            extractor_confidence?: number | null;
            /**
             * Importance
             * @description The importance, from 0 to 1, independent of confidence; by default the type's.
             */
            importance?: number | null;
            /**
             * Metadata
             * @description Anything else; questions and lists can filter by it.
             */
            metadata?: {
                [key: string]: unknown;
            };
            /**
             * Occurred At
             * @description When it was stated; now by default. A later statement replaces an earlier.
             */
            occurred_at?: string | null;
            /**
             * Plan
             * @description What is intended, as a verb.
             * @example visit Tokyo in June
             */
            plan: string;
            /**
             * Provenance
             * @description Your own record of the memory's origin.
             */
            provenance?: {
                [key: string]: unknown;
            };
            /** @description Who sees it: everyone of the tenant, one user, or one agent. By default, with `user_id` that user's, whichever agent it was, unless the type's own scope is the agent; with `agent_id` alone that agent's, unless the type's own scope is global; with neither, global. */
            scope?: components["schemas"]["ScopeKind"] | null;
            /**
             * Sequence Number
             * @description Its place in the session.
             */
            sequence_number?: number | null;
            /**
             * Session Id
             * @description Your id of the conversation.
             */
            session_id?: string | null;
            /**
             * Source Confidence
             * @description The source strength.
             */
            source_confidence?: number | null;
            /**
             * @description The speech act; only an assertion can become an active belief.
             * @default assertion
             */
            speech_act?: components["schemas"]["SpeechAct"];
            /**
             * Subject
             * @description Who intends it.
             * @default user
             */
            subject?: string;
            /**
             * Timezone
             * @description Where times without an offset are read.
             */
            timezone?: string | null;
            /**
             * Topic
             * @description A topic of your own choice, to filter by.
             */
            topic?: string | null;
            /**
             * Ttl Seconds
             * @description Instead of valid_until: how long it is true, in seconds from valid_from, or else from when it was stated.
             */
            ttl_seconds?: number | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "plan";
            /**
             * User Id
             * @description Your id of the user: what is stored is that user's, what is asked or listed is what they may see.
             */
            user_id?: string | null;
            /**
             * Valid From
             * @description Since when it is true.
             */
            valid_from?: string | null;
            /**
             * Valid Until
             * @description Until when it is true. What repeats a memory, and was not stated before it, moves its end; without one it leaves it as it is.
             */
            valid_until?: string | null;
        };
        /**
         * PlanMemory
         * @description An intention with a time ahead of it: a trip, a goal, something to be done.
         */
        PlanMemory: {
            /**
             * Access Count
             * @description Uses that count: what `not_useful` took back is not among them.
             */
            access_count: number;
            /** Agent Id */
            agent_id: string | null;
            category: components["schemas"]["Category"];
            /** Confidence */
            confidence: number;
            confidence_parts: components["schemas"]["ConfidencePartsOut"];
            /** Content */
            content: string;
            /** Contested */
            contested: boolean;
            /**
             * Distinct Sessions
             * @description Sessions it was used in, as far as they are kept (16).
             */
            distinct_sessions: number;
            /** Evidence */
            evidence: components["schemas"]["EvidenceOut"][];
            /** Freshness */
            freshness: number;
            /**
             * Id
             * @example mem_0198c5a2f0a87b3c9d2e4f6a8b0c1d2e
             */
            id: string;
            /** Importance */
            importance: number;
            /** Last Accessed At */
            last_accessed_at: string | null;
            /** Links */
            links: components["schemas"]["LinkOut"][];
            /** Metadata */
            metadata: {
                [key: string]: unknown;
            };
            /** Needs Review */
            needs_review: boolean;
            /** Not Useful Count */
            not_useful_count: number;
            /**
             * Occurred At
             * Format: date-time
             * @description When it was said, by the latest that said so.
             */
            occurred_at: string;
            /**
             * Plan
             * @description What is intended, as a verb.
             * @example visit Tokyo in June
             */
            plan: string;
            /** Provenance */
            provenance: {
                [key: string]: unknown;
            };
            /**
             * Recorded At
             * Format: date-time
             */
            recorded_at: string;
            /** Retired At */
            retired_at: string | null;
            review_reason: components["schemas"]["ReviewReason"] | null;
            scope: components["schemas"]["ScopeKind"];
            /** Sequence Number */
            sequence_number: number | null;
            /** Session Id */
            session_id: string | null;
            /**
             * Slot
             * @description The key under which only one value can be true at a time.
             */
            slot: string | null;
            speech_act: components["schemas"]["SpeechAct"];
            /**
             * Stability
             * @description From 0 to 1: grows with uses that lie days apart.
             */
            stability: number;
            status: components["schemas"]["MemoryStatus"];
            /**
             * Subject
             * @description Who intends it.
             * @default user
             */
            subject?: string;
            /** Superseded By */
            superseded_by: string | null;
            /** Supersedes */
            supersedes: string | null;
            /** Topic */
            topic: string | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "plan";
            /** Useful Count */
            useful_count: number;
            /** User Id */
            user_id: string | null;
            /**
             * Valid From
             * Format: date-time
             */
            valid_from: string;
            /** Valid Until */
            valid_until: string | null;
            /** Wrong Count */
            wrong_count: number;
        };
        /**
         * PlanWrite
         * @description An intention with a time ahead of it: a trip, a goal, something to be done.
         * @example {
         *       "plan": "visit Tokyo in June",
         *       "subject": "user",
         *       "user_id": "ana"
         *     }
         */
        PlanWrite: {
            /**
             * Agent Id
             * @description Your id of the agent: what is stored is that agent's, what is asked or listed is what it may see.
             */
            agent_id?: string | null;
            /** @description The category; by default the type's. */
            category?: components["schemas"]["Category"] | null;
            /**
             * Content
             * @description The sentence to remember, instead of one made from the fields.
             */
            content?: string | null;
            /**
             * Context
             * @description The text just before it: searched, never shown.
             */
            context?: string | null;
            /**
             * Ends
             * @description This is no longer so: nothing is stored, and what is held so ends, `valid_until` saying when (by default, when it is stated; what ends later holds until then). Answered with `ended`, or why nothing ended. For types that hold values.
             * @default false
             */
            ends?: boolean;
            /** Evidence */
            evidence?: components["schemas"]["EvidenceIn"][];
            /**
             * Evidence Turn Id
             * @description Short for evidence with just a turn_id.
             */
            evidence_turn_id?: string | null;
            /**
             * Extractor Confidence
             * @description Confidence of the extraction.
             */
            extractor_confidence?: number | null;
            /**
             * Importance
             * @description The importance, from 0 to 1, independent of confidence; by default the type's.
             */
            importance?: number | null;
            /**
             * Metadata
             * @description Anything else; questions and lists can filter by it.
             */
            metadata?: {
                [key: string]: unknown;
            };
            /**
             * Occurred At
             * @description When it was stated; now by default. A later statement replaces an earlier.
             */
            occurred_at?: string | null;
            /**
             * Plan
             * @description What is intended, as a verb.
             * @example visit Tokyo in June
             */
            plan: string;
            /**
             * Provenance
             * @description Your own record of the memory's origin.
             */
            provenance?: {
                [key: string]: unknown;
            };
            /** @description Who sees it: everyone of the tenant, one user, or one agent. By default, with `user_id` that user's, whichever agent it was, unless the type's own scope is the agent; with `agent_id` alone that agent's, unless the type's own scope is global; with neither, global. */
            scope?: components["schemas"]["ScopeKind"] | null;
            /**
             * Sequence Number
             * @description Its place in the session.
             */
            sequence_number?: number | null;
            /**
             * Session Id
             * @description Your id of the conversation.
             */
            session_id?: string | null;
            /**
             * Source Confidence
             * @description The source strength.
             */
            source_confidence?: number | null;
            /**
             * @description The speech act; only an assertion can become an active belief.
             * @default assertion
             */
            speech_act?: components["schemas"]["SpeechAct"];
            /**
             * Subject
             * @description Who intends it.
             * @default user
             */
            subject?: string;
            /**
             * Timezone
             * @description Where times without an offset are read.
             */
            timezone?: string | null;
            /**
             * Topic
             * @description A topic of your own choice, to filter by.
             */
            topic?: string | null;
            /**
             * Ttl Seconds
             * @description Instead of valid_until: how long it is true, in seconds from valid_from, or else from when it was stated.
             */
            ttl_seconds?: number | null;
            /**
             * Type
             * @description May be left out: the route says it.
             */
            type?: "plan" | null;
            /**
             * User Id
             * @description Your id of the user: what is stored is that user's, what is asked or listed is what they may see.
             */
            user_id?: string | null;
            /**
             * Valid From
             * @description Since when it is true.
             */
            valid_from?: string | null;
            /**
             * Valid Until
             * @description Until when it is true. What repeats a memory, and was not stated before it, moves its end; without one it leaves it as it is.
             */
            valid_until?: string | null;
        };
        /**
         * PreferenceItem
         * @description A choice someone makes and may change: settings, likes, ways of working.
         * @example {
         *       "preference_key": "editor.theme",
         *       "preference_value": "dark",
         *       "type": "preference",
         *       "user_id": "ana"
         *     }
         */
        PreferenceItem: {
            /**
             * Agent Id
             * @description Your id of the agent: what is stored is that agent's, what is asked or listed is what it may see.
             */
            agent_id?: string | null;
            /** @description The category; by default the type's. */
            category?: components["schemas"]["Category"] | null;
            /**
             * Content
             * @description The sentence to remember, instead of one made from the fields.
             */
            content?: string | null;
            /**
             * Context
             * @description The text just before it: searched, never shown.
             */
            context?: string | null;
            /**
             * Ends
             * @description This is no longer so: nothing is stored, and what is held so ends, `valid_until` saying when (by default, when it is stated; what ends later holds until then). Answered with `ended`, or why nothing ended. For types that hold values.
             * @default false
             */
            ends?: boolean;
            /** Evidence */
            evidence?: components["schemas"]["EvidenceIn"][];
            /**
             * Evidence Turn Id
             * @description Short for evidence with just a turn_id.
             */
            evidence_turn_id?: string | null;
            /**
             * Extractor Confidence
             * @description Confidence of the extraction.
             */
            extractor_confidence?: number | null;
            /**
             * Importance
             * @description The importance, from 0 to 1, independent of confidence; by default the type's.
             */
            importance?: number | null;
            /**
             * Metadata
             * @description Anything else; questions and lists can filter by it.
             */
            metadata?: {
                [key: string]: unknown;
            };
            /**
             * Occurred At
             * @description When it was stated; now by default. A later statement replaces an earlier.
             */
            occurred_at?: string | null;
            /**
             * Preference Key
             * @description `domain.attribute`: the choice that is made.
             * @example editor.theme
             */
            preference_key: string;
            /**
             * Preference Value
             * @description What is preferred.
             * @example dark
             */
            preference_value: string;
            /**
             * Provenance
             * @description Your own record of the memory's origin.
             */
            provenance?: {
                [key: string]: unknown;
            };
            /** @description Who sees it: everyone of the tenant, one user, or one agent. By default, with `user_id` that user's, whichever agent it was, unless the type's own scope is the agent; with `agent_id` alone that agent's, unless the type's own scope is global; with neither, global. */
            scope?: components["schemas"]["ScopeKind"] | null;
            /**
             * Sequence Number
             * @description Its place in the session.
             */
            sequence_number?: number | null;
            /**
             * Session Id
             * @description Your id of the conversation.
             */
            session_id?: string | null;
            /**
             * Source Confidence
             * @description The source strength.
             */
            source_confidence?: number | null;
            /**
             * @description The speech act; only an assertion can become an active belief.
             * @default assertion
             */
            speech_act?: components["schemas"]["SpeechAct"];
            /**
             * Subject
             * @description Whose preference it is.
             * @default user
             */
            subject?: string;
            /**
             * Timezone
             * @description Where times without an offset are read.
             */
            timezone?: string | null;
            /**
             * Topic
             * @description A topic of your own choice, to filter by.
             */
            topic?: string | null;
            /**
             * Ttl Seconds
             * @description Instead of valid_until: how long it is true, in seconds from valid_from, or else from when it was stated.
             */
            ttl_seconds?: number | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "preference";
            /**
             * User Id
             * @description Your id of the user: what is stored is that user's, what is asked or listed is what they may see.
             */
            user_id?: string | null;
            /**
             * Valid From
             * @description Since when it is true.
             */
            valid_from?: string | null;
            /**
             * Valid Until
             * @description Until when it is true. What repeats a memory, and was not stated before it, moves its end; without one it leaves it as it is.
             */
            valid_until?: string | null;
        };
        /**
         * PreferenceMemory
         * @description A choice someone makes and may change: settings, likes, ways of working.
         */
        PreferenceMemory: {
            /**
             * Access Count
             * @description Uses that count: what `not_useful` took back is not among them.
             */
            access_count: number;
            /** Agent Id */
            agent_id: string | null;
            category: components["schemas"]["Category"];
            /** Confidence */
            confidence: number;
            confidence_parts: components["schemas"]["ConfidencePartsOut"];
            /** Content */
            content: string;
            /** Contested */
            contested: boolean;
            /**
             * Distinct Sessions
             * @description Sessions it was used in, as far as they are kept (16).
             */
            distinct_sessions: number;
            /** Evidence */
            evidence: components["schemas"]["EvidenceOut"][];
            /** Freshness */
            freshness: number;
            /**
             * Id
             * @example mem_0198c5a2f0a87b3c9d2e4f6a8b0c1d2e
             */
            id: string;
            /** Importance */
            importance: number;
            /** Last Accessed At */
            last_accessed_at: string | null;
            /** Links */
            links: components["schemas"]["LinkOut"][];
            /** Metadata */
            metadata: {
                [key: string]: unknown;
            };
            /** Needs Review */
            needs_review: boolean;
            /** Not Useful Count */
            not_useful_count: number;
            /**
             * Occurred At
             * Format: date-time
             * @description When it was said, by the latest that said so.
             */
            occurred_at: string;
            /**
             * Preference Key
             * @description `domain.attribute`: the choice that is made.
             * @example editor.theme
             */
            preference_key: string;
            /**
             * Preference Value
             * @description What is preferred.
             * @example dark
             */
            preference_value: string;
            /** Provenance */
            provenance: {
                [key: string]: unknown;
            };
            /**
             * Recorded At
             * Format: date-time
             */
            recorded_at: string;
            /** Retired At */
            retired_at: string | null;
            review_reason: components["schemas"]["ReviewReason"] | null;
            scope: components["schemas"]["ScopeKind"];
            /** Sequence Number */
            sequence_number: number | null;
            /** Session Id */
            session_id: string | null;
            /**
             * Slot
             * @description The key under which only one value can be true at a time.
             */
            slot: string | null;
            speech_act: components["schemas"]["SpeechAct"];
            /**
             * Stability
             * @description From 0 to 1: grows with uses that lie days apart.
             */
            stability: number;
            status: components["schemas"]["MemoryStatus"];
            /**
             * Subject
             * @description Whose preference it is.
             * @default user
             */
            subject?: string;
            /** Superseded By */
            superseded_by: string | null;
            /** Supersedes */
            supersedes: string | null;
            /** Topic */
            topic: string | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "preference";
            /** Useful Count */
            useful_count: number;
            /** User Id */
            user_id: string | null;
            /**
             * Valid From
             * Format: date-time
             */
            valid_from: string;
            /** Valid Until */
            valid_until: string | null;
            /** Wrong Count */
            wrong_count: number;
        };
        /**
         * PreferenceWrite
         * @description A choice someone makes and may change: settings, likes, ways of working.
         * @example {
         *       "preference_key": "editor.theme",
         *       "preference_value": "dark",
         *       "user_id": "ana"
         *     }
         */
        PreferenceWrite: {
            /**
             * Agent Id
             * @description Your id of the agent: what is stored is that agent's, what is asked or listed is what it may see.
             */
            agent_id?: string | null;
            /** @description The category; by default the type's. */
            category?: components["schemas"]["Category"] | null;
            /**
             * Content
             * @description The sentence to remember, instead of one made from the fields.
             */
            content?: string | null;
            /**
             * Context
             * @description The text just before it: searched, never shown.
             */
            context?: string | null;
            /**
             * Ends
             * @description This is no longer so: nothing is stored, and what is held so ends, `valid_until` saying when (by default, when it is stated; what ends later holds until then). Answered with `ended`, or why nothing ended. For types that hold values.
             * @default false
             */
            ends?: boolean;
            /** Evidence */
            evidence?: components["schemas"]["EvidenceIn"][];
            /**
             * Evidence Turn Id
             * @description Short for evidence with just a turn_id.
             */
            evidence_turn_id?: string | null;
            /**
             * Extractor Confidence
             * @description Confidence of the extraction.
             */
            extractor_confidence?: number | null;
            /**
             * Importance
             * @description The importance, from 0 to 1, independent of confidence; by default the type's.
             */
            importance?: number | null;
            /**
             * Metadata
             * @description Anything else; questions and lists can filter by it.
             */
            metadata?: {
                [key: string]: unknown;
            };
            /**
             * Occurred At
             * @description When it was stated; now by default. A later statement replaces an earlier.
             */
            occurred_at?: string | null;
            /**
             * Preference Key
             * @description `domain.attribute`: the choice that is made.
             * @example editor.theme
             */
            preference_key: string;
            /**
             * Preference Value
             * @description What is preferred.
             * @example dark
             */
            preference_value: string;
            /**
             * Provenance
             * @description Your own record of the memory's origin.
             */
            provenance?: {
                [key: string]: unknown;
            };
            /** @description Who sees it: everyone of the tenant, one user, or one agent. By default, with `user_id` that user's, whichever agent it was, unless the type's own scope is the agent; with `agent_id` alone that agent's, unless the type's own scope is global; with neither, global. */
            scope?: components["schemas"]["ScopeKind"] | null;
            /**
             * Sequence Number
             * @description Its place in the session.
             */
            sequence_number?: number | null;
            /**
             * Session Id
             * @description Your id of the conversation.
             */
            session_id?: string | null;
            /**
             * Source Confidence
             * @description The source strength.
             */
            source_confidence?: number | null;
            /**
             * @description The speech act; only an assertion can become an active belief.
             * @default assertion
             */
            speech_act?: components["schemas"]["SpeechAct"];
            /**
             * Subject
             * @description Whose preference it is.
             * @default user
             */
            subject?: string;
            /**
             * Timezone
             * @description Where times without an offset are read.
             */
            timezone?: string | null;
            /**
             * Topic
             * @description A topic of your own choice, to filter by.
             */
            topic?: string | null;
            /**
             * Ttl Seconds
             * @description Instead of valid_until: how long it is true, in seconds from valid_from, or else from when it was stated.
             */
            ttl_seconds?: number | null;
            /**
             * Type
             * @description May be left out: the route says it.
             */
            type?: "preference" | null;
            /**
             * User Id
             * @description Your id of the user: what is stored is that user's, what is asked or listed is what they may see.
             */
            user_id?: string | null;
            /**
             * Valid From
             * @description Since when it is true.
             */
            valid_from?: string | null;
            /**
             * Valid Until
             * @description Until when it is true. What repeats a memory, and was not stated before it, moves its end; without one it leaves it as it is.
             */
            valid_until?: string | null;
        };
        /**
         * PreviewOut
         * @description The outcome of accepting the item now.
         */
        PreviewOut: {
            /** Affected */
            affected: components["schemas"]["AffectedOut"][];
            /** Memory Id */
            memory_id: string | null;
            /** Outcome */
            outcome: string;
        };
        /**
         * Problem
         * @description RFC 9457 problem details.
         */
        Problem: {
            /** Detail */
            detail: string;
            /**
             * Errors
             * @description The fields at fault, if there are any.
             * @default null
             */
            errors?: components["schemas"]["FieldError"][] | null;
            /**
             * Instance
             * @description The path that was asked for.
             */
            instance: string;
            /** Request Id */
            request_id: string;
            /** Status */
            status: number;
            /** Title */
            title: string;
            /**
             * Type
             * @description Stable name of the kind of problem.
             * @example urn:typed-memory:problem:not-found
             */
            type: string;
        };
        /**
         * ProceduralItem
         * @description How to do something: a workflow, routine or habit that someone follows, with its steps.
         * @example {
         *       "content": "run the usual deploy",
         *       "steps": [
         *         "check CI",
         *         "merge to main",
         *         "notify the team"
         *       ],
         *       "trigger_conditions": [
         *         "the user says 'run the usual deploy'"
         *       ],
         *       "type": "procedural",
         *       "user_id": "ana"
         *     }
         */
        ProceduralItem: {
            /**
             * Agent Id
             * @description Your id of the agent: what is stored is that agent's, what is asked or listed is what it may see.
             */
            agent_id?: string | null;
            /** @description The category; by default the type's. */
            category?: components["schemas"]["Category"] | null;
            /**
             * Content
             * @description What to do.
             */
            content: string;
            /**
             * Context
             * @description The text just before it: searched, never shown.
             */
            context?: string | null;
            /**
             * Ends
             * @description This is no longer so: nothing is stored, and what is held so ends, `valid_until` saying when (by default, when it is stated; what ends later holds until then). Answered with `ended`, or why nothing ended. For types that hold values.
             * @default false
             */
            ends?: boolean;
            /** Evidence */
            evidence?: components["schemas"]["EvidenceIn"][];
            /**
             * Evidence Turn Id
             * @description Short for evidence with just a turn_id.
             */
            evidence_turn_id?: string | null;
            /**
             * Extractor Confidence
             * @description Confidence of the extraction.
             */
            extractor_confidence?: number | null;
            /**
             * Importance
             * @description The importance, from 0 to 1, independent of confidence; by default the type's.
             */
            importance?: number | null;
            /**
             * Metadata
             * @description Anything else; questions and lists can filter by it.
             */
            metadata?: {
                [key: string]: unknown;
            };
            /**
             * Occurred At
             * @description When it was stated; now by default. A later statement replaces an earlier.
             */
            occurred_at?: string | null;
            /**
             * Provenance
             * @description Your own record of the memory's origin.
             */
            provenance?: {
                [key: string]: unknown;
            };
            /** @description Who sees it: everyone of the tenant, one user, or one agent. By default, with `user_id` that user's, whichever agent it was, unless the type's own scope is the agent; with `agent_id` alone that agent's, unless the type's own scope is global; with neither, global. */
            scope?: components["schemas"]["ScopeKind"] | null;
            /**
             * Sequence Number
             * @description Its place in the session.
             */
            sequence_number?: number | null;
            /**
             * Session Id
             * @description Your id of the conversation.
             */
            session_id?: string | null;
            /**
             * Source Confidence
             * @description The source strength.
             */
            source_confidence?: number | null;
            /**
             * @description The speech act; only an assertion can become an active belief.
             * @default assertion
             */
            speech_act?: components["schemas"]["SpeechAct"];
            /**
             * Steps
             * @description The steps, in order.
             * @default []
             */
            steps?: string[];
            /**
             * Timezone
             * @description Where times without an offset are read.
             */
            timezone?: string | null;
            /**
             * Topic
             * @description A topic of your own choice, to filter by.
             */
            topic?: string | null;
            /**
             * Trigger Conditions
             * @description When to apply it; a later procedure for the same occasion replaces this one.
             * @default []
             * @example [
             *       "API returns paginated results"
             *     ]
             */
            trigger_conditions?: string[];
            /**
             * Ttl Seconds
             * @description Instead of valid_until: how long it is true, in seconds from valid_from, or else from when it was stated.
             */
            ttl_seconds?: number | null;
            /**
             * @description The memory's type, such as `fact`. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            type: "procedural" | "procedure";
            /**
             * User Id
             * @description Your id of the user: what is stored is that user's, what is asked or listed is what they may see.
             */
            user_id?: string | null;
            /**
             * Valid From
             * @description Since when it is true.
             */
            valid_from?: string | null;
            /**
             * Valid Until
             * @description Until when it is true. What repeats a memory, and was not stated before it, moves its end; without one it leaves it as it is.
             */
            valid_until?: string | null;
        };
        /**
         * ProceduralMemory
         * @description How to do something: a workflow, routine or habit that someone follows, with its steps.
         */
        ProceduralMemory: {
            /**
             * Access Count
             * @description Uses that count: what `not_useful` took back is not among them.
             */
            access_count: number;
            /** Agent Id */
            agent_id: string | null;
            category: components["schemas"]["Category"];
            /** Confidence */
            confidence: number;
            confidence_parts: components["schemas"]["ConfidencePartsOut"];
            /**
             * Content
             * @description What to do.
             */
            content: string;
            /** Contested */
            contested: boolean;
            /**
             * Distinct Sessions
             * @description Sessions it was used in, as far as they are kept (16).
             */
            distinct_sessions: number;
            /** Evidence */
            evidence: components["schemas"]["EvidenceOut"][];
            /** Freshness */
            freshness: number;
            /**
             * Id
             * @example mem_0198c5a2f0a87b3c9d2e4f6a8b0c1d2e
             */
            id: string;
            /** Importance */
            importance: number;
            /** Last Accessed At */
            last_accessed_at: string | null;
            /** Links */
            links: components["schemas"]["LinkOut"][];
            /** Metadata */
            metadata: {
                [key: string]: unknown;
            };
            /** Needs Review */
            needs_review: boolean;
            /** Not Useful Count */
            not_useful_count: number;
            /**
             * Occurred At
             * Format: date-time
             * @description When it was said, by the latest that said so.
             */
            occurred_at: string;
            /** Provenance */
            provenance: {
                [key: string]: unknown;
            };
            /**
             * Recorded At
             * Format: date-time
             */
            recorded_at: string;
            /** Retired At */
            retired_at: string | null;
            review_reason: components["schemas"]["ReviewReason"] | null;
            scope: components["schemas"]["ScopeKind"];
            /** Sequence Number */
            sequence_number: number | null;
            /** Session Id */
            session_id: string | null;
            /**
             * Slot
             * @description The key under which only one value can be true at a time.
             */
            slot: string | null;
            speech_act: components["schemas"]["SpeechAct"];
            /**
             * Stability
             * @description From 0 to 1: grows with uses that lie days apart.
             */
            stability: number;
            status: components["schemas"]["MemoryStatus"];
            /**
             * Steps
             * @description The steps, in order.
             * @default []
             */
            steps?: string[];
            /** Subject */
            subject: string | null;
            /** Superseded By */
            superseded_by: string | null;
            /** Supersedes */
            supersedes: string | null;
            /** Topic */
            topic: string | null;
            /**
             * Trigger Conditions
             * @description When to apply it; a later procedure for the same occasion replaces this one.
             * @default []
             * @example [
             *       "API returns paginated results"
             *     ]
             */
            trigger_conditions?: string[];
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "procedural";
            /** Useful Count */
            useful_count: number;
            /** User Id */
            user_id: string | null;
            /**
             * Valid From
             * Format: date-time
             */
            valid_from: string;
            /** Valid Until */
            valid_until: string | null;
            /** Wrong Count */
            wrong_count: number;
        };
        /**
         * ProceduralWrite
         * @description How to do something: a workflow, routine or habit that someone follows, with its steps.
         * @example {
         *       "content": "run the usual deploy",
         *       "steps": [
         *         "check CI",
         *         "merge to main",
         *         "notify the team"
         *       ],
         *       "trigger_conditions": [
         *         "the user says 'run the usual deploy'"
         *       ],
         *       "user_id": "ana"
         *     }
         */
        ProceduralWrite: {
            /**
             * Agent Id
             * @description Your id of the agent: what is stored is that agent's, what is asked or listed is what it may see.
             */
            agent_id?: string | null;
            /** @description The category; by default the type's. */
            category?: components["schemas"]["Category"] | null;
            /**
             * Content
             * @description What to do.
             */
            content: string;
            /**
             * Context
             * @description The text just before it: searched, never shown.
             */
            context?: string | null;
            /**
             * Ends
             * @description This is no longer so: nothing is stored, and what is held so ends, `valid_until` saying when (by default, when it is stated; what ends later holds until then). Answered with `ended`, or why nothing ended. For types that hold values.
             * @default false
             */
            ends?: boolean;
            /** Evidence */
            evidence?: components["schemas"]["EvidenceIn"][];
            /**
             * Evidence Turn Id
             * @description Short for evidence with just a turn_id.
             */
            evidence_turn_id?: string | null;
            /**
             * Extractor Confidence
             * @description Confidence of the extraction.
             */
            extractor_confidence?: number | null;
            /**
             * Importance
             * @description The importance, from 0 to 1, independent of confidence; by default the type's.
             */
            importance?: number | null;
            /**
             * Metadata
             * @description Anything else; questions and lists can filter by it.
             */
            metadata?: {
                [key: string]: unknown;
            };
            /**
             * Occurred At
             * @description When it was stated; now by default. A later statement replaces an earlier.
             */
            occurred_at?: string | null;
            /**
             * Provenance
             * @description Your own record of the memory's origin.
             */
            provenance?: {
                [key: string]: unknown;
            };
            /** @description Who sees it: everyone of the tenant, one user, or one agent. By default, with `user_id` that user's, whichever agent it was, unless the type's own scope is the agent; with `agent_id` alone that agent's, unless the type's own scope is global; with neither, global. */
            scope?: components["schemas"]["ScopeKind"] | null;
            /**
             * Sequence Number
             * @description Its place in the session.
             */
            sequence_number?: number | null;
            /**
             * Session Id
             * @description Your id of the conversation.
             */
            session_id?: string | null;
            /**
             * Source Confidence
             * @description The source strength.
             */
            source_confidence?: number | null;
            /**
             * @description The speech act; only an assertion can become an active belief.
             * @default assertion
             */
            speech_act?: components["schemas"]["SpeechAct"];
            /**
             * Steps
             * @description The steps, in order.
             * @default []
             */
            steps?: string[];
            /**
             * Timezone
             * @description Where times without an offset are read.
             */
            timezone?: string | null;
            /**
             * Topic
             * @description A topic of your own choice, to filter by.
             */
            topic?: string | null;
            /**
             * Trigger Conditions
             * @description When to apply it; a later procedure for the same occasion replaces this one.
             * @default []
             * @example [
             *       "API returns paginated results"
             *     ]
             */
            trigger_conditions?: string[];
            /**
             * Ttl Seconds
             * @description Instead of valid_until: how long it is true, in seconds from valid_from, or else from when it was stated.
             */
            ttl_seconds?: number | null;
            /**
             * Type
             * @description May be left out: the route says it.
             */
            type?: ("procedural" | "procedure") | null;
            /**
             * User Id
             * @description Your id of the user: what is stored is that user's, what is asked or listed is what they may see.
             */
            user_id?: string | null;
            /**
             * Valid From
             * @description Since when it is true.
             */
            valid_from?: string | null;
            /**
             * Valid Until
             * @description Until when it is true. What repeats a memory, and was not stated before it, moves its end; without one it leaves it as it is.
             */
            valid_until?: string | null;
        };
        /**
         * ProfileOut
         * @description The profile of a user: a block to paste, its size, its groups, and the memories in it.
         */
        ProfileOut: {
            /** Groups */
            groups: components["schemas"]["GroupOut"][];
            /** Memory Ids */
            memory_ids: string[];
            /** Text */
            text: string;
            /** Tokens */
            tokens: number;
            /** User Id */
            user_id: string;
        };
        /**
         * ProgressItem
         * @description How far the work of a session has come.
         * @example {
         *       "content": "Three of five endpoints are migrated.",
         *       "session_id": "run-7",
         *       "type": "progress",
         *       "user_id": "ana"
         *     }
         */
        ProgressItem: {
            /**
             * Agent Id
             * @description Your id of the agent: what is stored is that agent's, what is asked or listed is what it may see.
             */
            agent_id?: string | null;
            /** @description The category; by default the type's. */
            category?: components["schemas"]["Category"] | null;
            /**
             * Content
             * @description How far the work of a session has come.
             */
            content: string;
            /**
             * Context
             * @description The text just before it: searched, never shown.
             */
            context?: string | null;
            /**
             * Ends
             * @description This is no longer so: nothing is stored, and what is held so ends, `valid_until` saying when (by default, when it is stated; what ends later holds until then). Answered with `ended`, or why nothing ended. For types that hold values.
             * @default false
             */
            ends?: boolean;
            /** Evidence */
            evidence?: components["schemas"]["EvidenceIn"][];
            /**
             * Evidence Turn Id
             * @description Short for evidence with just a turn_id.
             */
            evidence_turn_id?: string | null;
            /**
             * Extractor Confidence
             * @description Confidence of the extraction.
             */
            extractor_confidence?: number | null;
            /**
             * Importance
             * @description The importance, from 0 to 1, independent of confidence; by default the type's.
             */
            importance?: number | null;
            /**
             * Metadata
             * @description Anything else; questions and lists can filter by it.
             */
            metadata?: {
                [key: string]: unknown;
            };
            /**
             * Occurred At
             * @description When it was stated; now by default. A later statement replaces an earlier.
             */
            occurred_at?: string | null;
            /**
             * Provenance
             * @description Your own record of the memory's origin.
             */
            provenance?: {
                [key: string]: unknown;
            };
            /** @description Who sees it: everyone of the tenant, one user, or one agent. By default, with `user_id` that user's, whichever agent it was, unless the type's own scope is the agent; with `agent_id` alone that agent's, unless the type's own scope is global; with neither, global. */
            scope?: components["schemas"]["ScopeKind"] | null;
            /**
             * Sequence Number
             * @description Its place in the session.
             */
            sequence_number?: number | null;
            /**
             * Session Id
             * @description The session whose progress it is.
             */
            session_id?: string | null;
            /**
             * Source Confidence
             * @description The source strength.
             */
            source_confidence?: number | null;
            /**
             * @description The speech act; only an assertion can become an active belief.
             * @default assertion
             */
            speech_act?: components["schemas"]["SpeechAct"];
            /**
             * Timezone
             * @description Where times without an offset are read.
             */
            timezone?: string | null;
            /**
             * Topic
             * @description A topic of your own choice, to filter by.
             */
            topic?: string | null;
            /**
             * Ttl Seconds
             * @description Instead of valid_until: how long it is true, in seconds from valid_from, or else from when it was stated.
             */
            ttl_seconds?: number | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "progress";
            /**
             * User Id
             * @description Your id of the user: what is stored is that user's, what is asked or listed is what they may see.
             */
            user_id?: string | null;
            /**
             * Valid From
             * @description Since when it is true.
             */
            valid_from?: string | null;
            /**
             * Valid Until
             * @description Until when it is true. What repeats a memory, and was not stated before it, moves its end; without one it leaves it as it is.
             */
            valid_until?: string | null;
        };
        /**
         * ProgressMemory
         * @description How far the work of a session has come.
         */
        ProgressMemory: {
            /**
             * Access Count
             * @description Uses that count: what `not_useful` took back is not among them.
             */
            access_count: number;
            /** Agent Id */
            agent_id: string | null;
            category: components["schemas"]["Category"];
            /** Confidence */
            confidence: number;
            confidence_parts: components["schemas"]["ConfidencePartsOut"];
            /**
             * Content
             * @description How far the work of a session has come.
             */
            content: string;
            /** Contested */
            contested: boolean;
            /**
             * Distinct Sessions
             * @description Sessions it was used in, as far as they are kept (16).
             */
            distinct_sessions: number;
            /** Evidence */
            evidence: components["schemas"]["EvidenceOut"][];
            /** Freshness */
            freshness: number;
            /**
             * Id
             * @example mem_0198c5a2f0a87b3c9d2e4f6a8b0c1d2e
             */
            id: string;
            /** Importance */
            importance: number;
            /** Last Accessed At */
            last_accessed_at: string | null;
            /** Links */
            links: components["schemas"]["LinkOut"][];
            /** Metadata */
            metadata: {
                [key: string]: unknown;
            };
            /** Needs Review */
            needs_review: boolean;
            /** Not Useful Count */
            not_useful_count: number;
            /**
             * Occurred At
             * Format: date-time
             * @description When it was said, by the latest that said so.
             */
            occurred_at: string;
            /** Provenance */
            provenance: {
                [key: string]: unknown;
            };
            /**
             * Recorded At
             * Format: date-time
             */
            recorded_at: string;
            /** Retired At */
            retired_at: string | null;
            review_reason: components["schemas"]["ReviewReason"] | null;
            scope: components["schemas"]["ScopeKind"];
            /** Sequence Number */
            sequence_number: number | null;
            /**
             * Session Id
             * @description The session whose progress it is.
             */
            session_id?: string | null;
            /**
             * Slot
             * @description The key under which only one value can be true at a time.
             */
            slot: string | null;
            speech_act: components["schemas"]["SpeechAct"];
            /**
             * Stability
             * @description From 0 to 1: grows with uses that lie days apart.
             */
            stability: number;
            status: components["schemas"]["MemoryStatus"];
            /** Subject */
            subject: string | null;
            /** Superseded By */
            superseded_by: string | null;
            /** Supersedes */
            supersedes: string | null;
            /** Topic */
            topic: string | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "progress";
            /** Useful Count */
            useful_count: number;
            /** User Id */
            user_id: string | null;
            /**
             * Valid From
             * Format: date-time
             */
            valid_from: string;
            /** Valid Until */
            valid_until: string | null;
            /** Wrong Count */
            wrong_count: number;
        };
        /**
         * ProgressWrite
         * @description How far the work of a session has come.
         * @example {
         *       "content": "Three of five endpoints are migrated.",
         *       "session_id": "run-7",
         *       "user_id": "ana"
         *     }
         */
        ProgressWrite: {
            /**
             * Agent Id
             * @description Your id of the agent: what is stored is that agent's, what is asked or listed is what it may see.
             */
            agent_id?: string | null;
            /** @description The category; by default the type's. */
            category?: components["schemas"]["Category"] | null;
            /**
             * Content
             * @description How far the work of a session has come.
             */
            content: string;
            /**
             * Context
             * @description The text just before it: searched, never shown.
             */
            context?: string | null;
            /**
             * Ends
             * @description This is no longer so: nothing is stored, and what is held so ends, `valid_until` saying when (by default, when it is stated; what ends later holds until then). Answered with `ended`, or why nothing ended. For types that hold values.
             * @default false
             */
            ends?: boolean;
            /** Evidence */
            evidence?: components["schemas"]["EvidenceIn"][];
            /**
             * Evidence Turn Id
             * @description Short for evidence with just a turn_id.
             */
            evidence_turn_id?: string | null;
            /**
             * Extractor Confidence
             * @description Confidence of the extraction.
             */
            extractor_confidence?: number | null;
            /**
             * Importance
             * @description The importance, from 0 to 1, independent of confidence; by default the type's.
             */
            importance?: number | null;
            /**
             * Metadata
             * @description Anything else; questions and lists can filter by it.
             */
            metadata?: {
                [key: string]: unknown;
            };
            /**
             * Occurred At
             * @description When it was stated; now by default. A later statement replaces an earlier.
             */
            occurred_at?: string | null;
            /**
             * Provenance
             * @description Your own record of the memory's origin.
             */
            provenance?: {
                [key: string]: unknown;
            };
            /** @description Who sees it: everyone of the tenant, one user, or one agent. By default, with `user_id` that user's, whichever agent it was, unless the type's own scope is the agent; with `agent_id` alone that agent's, unless the type's own scope is global; with neither, global. */
            scope?: components["schemas"]["ScopeKind"] | null;
            /**
             * Sequence Number
             * @description Its place in the session.
             */
            sequence_number?: number | null;
            /**
             * Session Id
             * @description The session whose progress it is.
             */
            session_id?: string | null;
            /**
             * Source Confidence
             * @description The source strength.
             */
            source_confidence?: number | null;
            /**
             * @description The speech act; only an assertion can become an active belief.
             * @default assertion
             */
            speech_act?: components["schemas"]["SpeechAct"];
            /**
             * Timezone
             * @description Where times without an offset are read.
             */
            timezone?: string | null;
            /**
             * Topic
             * @description A topic of your own choice, to filter by.
             */
            topic?: string | null;
            /**
             * Ttl Seconds
             * @description Instead of valid_until: how long it is true, in seconds from valid_from, or else from when it was stated.
             */
            ttl_seconds?: number | null;
            /**
             * Type
             * @description May be left out: the route says it.
             */
            type?: "progress" | null;
            /**
             * User Id
             * @description Your id of the user: what is stored is that user's, what is asked or listed is what they may see.
             */
            user_id?: string | null;
            /**
             * Valid From
             * @description Since when it is true.
             */
            valid_from?: string | null;
            /**
             * Valid Until
             * @description Until when it is true. What repeats a memory, and was not stated before it, moves its end; without one it leaves it as it is.
             */
            valid_until?: string | null;
        };
        /**
         * QueryBody
         * @description A question for the read pipeline: in words, or as the conversation that it stands in.
         * @example {
         *       "query": "Which editor theme does Ana prefer?",
         *       "user_id": "ana"
         *     }
         */
        QueryBody: {
            /**
             * Agent Id
             * @description Your id of the agent: what is stored is that agent's, what is asked or listed is what it may see.
             */
            agent_id?: string | null;
            /**
             * As Of
             * @description What was true then, as far as it is known: only memories that held at this time, whether or not they still do. Replaced ones held until what replaced them began.
             */
            as_of?: string | null;
            /**
             * Explain
             * @description Return the plan, and all details.
             * @default false
             */
            explain?: boolean;
            /**
             * @description What the context shows first of allergies, illnesses, medicines, hard rules and standing instructions: what the question touches, all of them, or none.
             * @default auto
             */
            heed?: components["schemas"]["HeedMode"];
            /**
             * @description Ids in the lines of the context: none, the memory's place in `memories`, or its id.
             * @default none
             */
            ids?: components["schemas"]["IdStyle"];
            /**
             * Include
             * @description What to answer with; `details` are whole memories, arms, notes and the groups of the context.
             * @default [
             *       "context",
             *       "memories"
             *     ]
             */
            include?: ("context" | "memories" | "details")[];
            /**
             * Known At
             * @description What was believed then: the answer this request had at that time. Nothing recorded, replaced, merged or changed later shows. What was erased since is gone from the past too.
             */
            known_at?: string | null;
            /**
             * Messages
             * @description Instead of `query`: the last messages of the conversation, as chat libraries have them. The question is the last one of the user, with the names and words that it leaves to those before.
             */
            messages?: components["schemas"]["ChatMessageIn"][] | null;
            /**
             * Metadata
             * @description Only memories whose metadata contain this JSON object.
             * @example {
             *       "project": "atlas"
             *     }
             */
            metadata?: {
                [key: string]: unknown;
            };
            /**
             * Min Confidence
             * @description Only what is trusted this far; by default .5, in other modes than `default` .3.
             */
            min_confidence?: number | null;
            /**
             * Min Relevance
             * @description Only what is this relevant; by default the floors of the embedding model. 0 fills up to `top_k`.
             */
            min_relevance?: number | null;
            /** @description By default as the question sounds. */
            mode?: components["schemas"]["QueryMode"] | null;
            /**
             * Now
             * @description Reference time of `yesterday`; by default `known_at`, else the present.
             */
            now?: string | null;
            /**
             * Query
             * @description In plain words, as a person would ask.
             * @example Which editor theme does Ana prefer?
             */
            query?: string | null;
            /**
             * Recent Turns
             * @description Last turns of the session that asks to leave out, as the prompt has them; 0 brings them back.
             * @default 20
             */
            recent_turns?: number;
            /**
             * Rerank
             * @description Have a reranking model order the best; where it is missing, late or fails, `degraded` says so.
             * @default false
             */
            rerank?: boolean;
            /**
             * Session Id
             * @description The conversation that asks. What is used in many counts for more, and its last `recent_turns` turns, which the caller still has, are left out.
             */
            session_id?: string | null;
            /**
             * Tags
             * @description Only memories with all of these in the list `tags` of their metadata.
             */
            tags?: string[];
            /**
             * Timezone
             * @description The IANA zone in which times without an offset, and words like `yesterday`, are read; UTC by default.
             */
            timezone?: string | null;
            /**
             * Token Budget
             * @description Most tokens of `context`; 0 for none.
             * @default 2000
             */
            token_budget?: number;
            /**
             * Top K
             * @description Most memories to return.
             * @default 12
             */
            top_k?: number;
            /**
             * Topic
             * @description Only what is filed under this, in any letter case.
             */
            topic?: string | null;
            /**
             * Types
             * @description Only these; all by default.
             */
            types?: string[];
            /**
             * User Id
             * @description Your id of the user: what is stored is that user's, what is asked or listed is what they may see.
             */
            user_id?: string | null;
        };
        /**
         * QueryMode
         * @description The mode of a read, which determines the visible statuses and the confidence floor.
         * @enum {string}
         */
        QueryMode: "default" | "historical" | "audit";
        /**
         * QueryResult
         * @description Memories, best first, and the context block made of them.
         */
        QueryResult: {
            context: components["schemas"]["ContextOut"];
            /** Degraded */
            degraded: string[];
            /** Memories */
            memories: components["schemas"]["Hit"][];
            /** Plan */
            plan: {
                [key: string]: unknown;
            } | null;
            /** Took Ms */
            took_ms: number;
            /** Understood */
            understood: {
                [key: string]: unknown;
            };
        };
        /**
         * QueueOut
         * @description The backlog of jobs of all tenants together.
         */
        QueueOut: {
            /** Depth */
            depth: number;
            /** Oldest Seconds */
            oldest_seconds: number;
        };
        /**
         * Ready
         * @description The readiness to serve requests; `reasons` are the faults that prevent it, `degraded` lesser ones.
         */
        Ready: {
            /** Degraded */
            degraded: {
                [key: string]: string;
            };
            queue: components["schemas"]["QueueOut"] | null;
            /** Ready */
            ready: boolean;
            /** Reasons */
            reasons: {
                [key: string]: string;
            };
        };
        /**
         * RecalledMemoryOut
         * @description A memory as questions are answered with it, besides the fields of its type; `details` gives all of it.
         */
        RecalledMemoryOut: {
            /** Content */
            content: string;
            /** Evidence */
            evidence: components["schemas"]["SourceOut"][];
            /**
             * Id
             * @example mem_0198c5a2f0a87b3c9d2e4f6a8b0c1d2e
             */
            id: string;
            /** Metadata */
            metadata: {
                [key: string]: unknown;
            };
            /**
             * Occurred At
             * Format: date-time
             * @description When it was said, by the latest that said so.
             */
            occurred_at: string;
            /** Sequence Number */
            sequence_number: number | null;
            /** Session Id */
            session_id: string | null;
            /**
             * Slot
             * @description The key under which only one value can be true at a time.
             */
            slot: string | null;
            status: components["schemas"]["MemoryStatus"];
            /** Subject */
            subject: string | null;
            /** Topic */
            topic: string | null;
            /** Type */
            type: string;
            /** Valid Until */
            valid_until: string | null;
        } & {
            [key: string]: unknown;
        };
        /**
         * ReceiptOut
         * @description The receipt of an erasure.
         */
        ReceiptOut: {
            /**
             * Counts
             * @description Rows erased, by table; `memories` and `turns` always, 0 for a user of whom nothing was stored.
             * @example {
             *       "memories": 2,
             *       "turns": 1
             *     }
             */
            counts: {
                [key: string]: number;
            };
            /**
             * Digest
             * @description The same with the SHA-256 of what each said after its id and a space: `mem_... 9f86...`.
             */
            digest: string | null;
            /** Finished At */
            finished_at: string | null;
            /** Id */
            id: string;
            /**
             * Ids
             * @description The erased ids, on request.
             */
            ids?: string[] | null;
            /**
             * Ids Digest
             * @description SHA-256 of the ids of the memories and turns that were erased, sorted, each with a line end.
             */
            ids_digest: string | null;
            /**
             * Job Id
             * @description The job that does it, for one that takes long.
             */
            job_id?: string | null;
            /**
             * Kept
             * @description Memories that rest on the same turns and stay; for a memory's erasure.
             */
            kept?: string[] | null;
            /**
             * Kind
             * @enum {string}
             */
            kind: "memory" | "user" | "document";
            /**
             * Matched
             * @description Rows found and erased so far, of every table.
             */
            matched: number;
            /**
             * Started At
             * Format: date-time
             */
            started_at: string;
            /**
             * Status
             * @description `nothing_matched` if there was nothing to erase, which a mistaken id looks like, too.
             * @enum {string}
             */
            status: "running" | "finished" | "nothing_matched";
            /**
             * Still There
             * @description Number of erased rows that are in the database now; 0 unless something is wrong.
             */
            still_there?: number | null;
            /**
             * Turns
             * @description Turns that still hold words of the erased memory, newest 5,000 turns of its scope looked through; `with_turns=true` erases them with it.
             */
            turns?: string[] | null;
            /**
             * Unsupported
             * @description Those of `kept` that no turn says any more, because it was erased with the memory.
             */
            unsupported?: string[] | null;
            /**
             * User Id Sha256
             * @description SHA-256 of the tenant's id, a colon and the user's id: the receipt names nobody.
             */
            user_id_sha256: string | null;
        };
        /**
         * ReflectionItem
         * @description A lesson learnt from something that went wrong.
         * @example {
         *       "content": "The migration failed because the lock was taken too early.",
         *       "type": "reflection",
         *       "user_id": "ana"
         *     }
         */
        ReflectionItem: {
            /**
             * Agent Id
             * @description Your id of the agent: what is stored is that agent's, what is asked or listed is what it may see.
             */
            agent_id?: string | null;
            /** @description The category; by default the type's. */
            category?: components["schemas"]["Category"] | null;
            /**
             * Content
             * @description A lesson learnt from something that went wrong.
             */
            content: string;
            /**
             * Context
             * @description The text just before it: searched, never shown.
             */
            context?: string | null;
            /**
             * Ends
             * @description This is no longer so: nothing is stored, and what is held so ends, `valid_until` saying when (by default, when it is stated; what ends later holds until then). Answered with `ended`, or why nothing ended. For types that hold values.
             * @default false
             */
            ends?: boolean;
            /** Evidence */
            evidence?: components["schemas"]["EvidenceIn"][];
            /**
             * Evidence Turn Id
             * @description Short for evidence with just a turn_id.
             */
            evidence_turn_id?: string | null;
            /**
             * Extractor Confidence
             * @description Confidence of the extraction.
             */
            extractor_confidence?: number | null;
            /**
             * Importance
             * @description The importance, from 0 to 1, independent of confidence; by default the type's.
             */
            importance?: number | null;
            /**
             * Metadata
             * @description Anything else; questions and lists can filter by it.
             */
            metadata?: {
                [key: string]: unknown;
            };
            /**
             * Occurred At
             * @description When it was stated; now by default. A later statement replaces an earlier.
             */
            occurred_at?: string | null;
            /**
             * Provenance
             * @description Your own record of the memory's origin.
             */
            provenance?: {
                [key: string]: unknown;
            };
            /** @description Who sees it: everyone of the tenant, one user, or one agent. By default, with `user_id` that user's, whichever agent it was, unless the type's own scope is the agent; with `agent_id` alone that agent's, unless the type's own scope is global; with neither, global. */
            scope?: components["schemas"]["ScopeKind"] | null;
            /**
             * Sequence Number
             * @description Its place in the session.
             */
            sequence_number?: number | null;
            /**
             * Session Id
             * @description Your id of the conversation.
             */
            session_id?: string | null;
            /**
             * Source Confidence
             * @description The source strength.
             */
            source_confidence?: number | null;
            /**
             * @description The speech act; only an assertion can become an active belief.
             * @default assertion
             */
            speech_act?: components["schemas"]["SpeechAct"];
            /**
             * Timezone
             * @description Where times without an offset are read.
             */
            timezone?: string | null;
            /**
             * Topic
             * @description A topic of your own choice, to filter by.
             */
            topic?: string | null;
            /**
             * Ttl Seconds
             * @description Instead of valid_until: how long it is true, in seconds from valid_from, or else from when it was stated.
             */
            ttl_seconds?: number | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "reflection";
            /**
             * User Id
             * @description Your id of the user: what is stored is that user's, what is asked or listed is what they may see.
             */
            user_id?: string | null;
            /**
             * Valid From
             * @description Since when it is true.
             */
            valid_from?: string | null;
            /**
             * Valid Until
             * @description Until when it is true. What repeats a memory, and was not stated before it, moves its end; without one it leaves it as it is.
             */
            valid_until?: string | null;
        };
        /**
         * ReflectionMemory
         * @description A lesson learnt from something that went wrong.
         */
        ReflectionMemory: {
            /**
             * Access Count
             * @description Uses that count: what `not_useful` took back is not among them.
             */
            access_count: number;
            /** Agent Id */
            agent_id: string | null;
            category: components["schemas"]["Category"];
            /** Confidence */
            confidence: number;
            confidence_parts: components["schemas"]["ConfidencePartsOut"];
            /**
             * Content
             * @description A lesson learnt from something that went wrong.
             */
            content: string;
            /** Contested */
            contested: boolean;
            /**
             * Distinct Sessions
             * @description Sessions it was used in, as far as they are kept (16).
             */
            distinct_sessions: number;
            /** Evidence */
            evidence: components["schemas"]["EvidenceOut"][];
            /** Freshness */
            freshness: number;
            /**
             * Id
             * @example mem_0198c5a2f0a87b3c9d2e4f6a8b0c1d2e
             */
            id: string;
            /** Importance */
            importance: number;
            /** Last Accessed At */
            last_accessed_at: string | null;
            /** Links */
            links: components["schemas"]["LinkOut"][];
            /** Metadata */
            metadata: {
                [key: string]: unknown;
            };
            /** Needs Review */
            needs_review: boolean;
            /** Not Useful Count */
            not_useful_count: number;
            /**
             * Occurred At
             * Format: date-time
             * @description When it was said, by the latest that said so.
             */
            occurred_at: string;
            /** Provenance */
            provenance: {
                [key: string]: unknown;
            };
            /**
             * Recorded At
             * Format: date-time
             */
            recorded_at: string;
            /** Retired At */
            retired_at: string | null;
            review_reason: components["schemas"]["ReviewReason"] | null;
            scope: components["schemas"]["ScopeKind"];
            /** Sequence Number */
            sequence_number: number | null;
            /** Session Id */
            session_id: string | null;
            /**
             * Slot
             * @description The key under which only one value can be true at a time.
             */
            slot: string | null;
            speech_act: components["schemas"]["SpeechAct"];
            /**
             * Stability
             * @description From 0 to 1: grows with uses that lie days apart.
             */
            stability: number;
            status: components["schemas"]["MemoryStatus"];
            /** Subject */
            subject: string | null;
            /** Superseded By */
            superseded_by: string | null;
            /** Supersedes */
            supersedes: string | null;
            /** Topic */
            topic: string | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "reflection";
            /** Useful Count */
            useful_count: number;
            /** User Id */
            user_id: string | null;
            /**
             * Valid From
             * Format: date-time
             */
            valid_from: string;
            /** Valid Until */
            valid_until: string | null;
            /** Wrong Count */
            wrong_count: number;
        };
        /**
         * ReflectionWrite
         * @description A lesson learnt from something that went wrong.
         * @example {
         *       "content": "The migration failed because the lock was taken too early.",
         *       "user_id": "ana"
         *     }
         */
        ReflectionWrite: {
            /**
             * Agent Id
             * @description Your id of the agent: what is stored is that agent's, what is asked or listed is what it may see.
             */
            agent_id?: string | null;
            /** @description The category; by default the type's. */
            category?: components["schemas"]["Category"] | null;
            /**
             * Content
             * @description A lesson learnt from something that went wrong.
             */
            content: string;
            /**
             * Context
             * @description The text just before it: searched, never shown.
             */
            context?: string | null;
            /**
             * Ends
             * @description This is no longer so: nothing is stored, and what is held so ends, `valid_until` saying when (by default, when it is stated; what ends later holds until then). Answered with `ended`, or why nothing ended. For types that hold values.
             * @default false
             */
            ends?: boolean;
            /** Evidence */
            evidence?: components["schemas"]["EvidenceIn"][];
            /**
             * Evidence Turn Id
             * @description Short for evidence with just a turn_id.
             */
            evidence_turn_id?: string | null;
            /**
             * Extractor Confidence
             * @description Confidence of the extraction.
             */
            extractor_confidence?: number | null;
            /**
             * Importance
             * @description The importance, from 0 to 1, independent of confidence; by default the type's.
             */
            importance?: number | null;
            /**
             * Metadata
             * @description Anything else; questions and lists can filter by it.
             */
            metadata?: {
                [key: string]: unknown;
            };
            /**
             * Occurred At
             * @description When it was stated; now by default. A later statement replaces an earlier.
             */
            occurred_at?: string | null;
            /**
             * Provenance
             * @description Your own record of the memory's origin.
             */
            provenance?: {
                [key: string]: unknown;
            };
            /** @description Who sees it: everyone of the tenant, one user, or one agent. By default, with `user_id` that user's, whichever agent it was, unless the type's own scope is the agent; with `agent_id` alone that agent's, unless the type's own scope is global; with neither, global. */
            scope?: components["schemas"]["ScopeKind"] | null;
            /**
             * Sequence Number
             * @description Its place in the session.
             */
            sequence_number?: number | null;
            /**
             * Session Id
             * @description Your id of the conversation.
             */
            session_id?: string | null;
            /**
             * Source Confidence
             * @description The source strength.
             */
            source_confidence?: number | null;
            /**
             * @description The speech act; only an assertion can become an active belief.
             * @default assertion
             */
            speech_act?: components["schemas"]["SpeechAct"];
            /**
             * Timezone
             * @description Where times without an offset are read.
             */
            timezone?: string | null;
            /**
             * Topic
             * @description A topic of your own choice, to filter by.
             */
            topic?: string | null;
            /**
             * Ttl Seconds
             * @description Instead of valid_until: how long it is true, in seconds from valid_from, or else from when it was stated.
             */
            ttl_seconds?: number | null;
            /**
             * Type
             * @description May be left out: the route says it.
             */
            type?: "reflection" | null;
            /**
             * User Id
             * @description Your id of the user: what is stored is that user's, what is asked or listed is what they may see.
             */
            user_id?: string | null;
            /**
             * Valid From
             * @description Since when it is true.
             */
            valid_from?: string | null;
            /**
             * Valid Until
             * @description Until when it is true. What repeats a memory, and was not stated before it, moves its end; without one it leaves it as it is.
             */
            valid_until?: string | null;
        };
        /**
         * RelationItem
         * @description A typed edge from one named entity to another; where none of the relation types fits, it is a fact.
         * @example {
         *       "from_entity": "Sarah",
         *       "relation_type": "reports-to",
         *       "to_entity": "Priya",
         *       "type": "relation",
         *       "user_id": "ana"
         *     }
         */
        RelationItem: {
            /**
             * Agent Id
             * @description Your id of the agent: what is stored is that agent's, what is asked or listed is what it may see.
             */
            agent_id?: string | null;
            /** @description The category; by default the type's. */
            category?: components["schemas"]["Category"] | null;
            /**
             * Content
             * @description The sentence to remember, instead of one made from the fields.
             */
            content?: string | null;
            /**
             * Context
             * @description The text just before it: searched, never shown.
             */
            context?: string | null;
            /**
             * Ends
             * @description This is no longer so: nothing is stored, and what is held so ends, `valid_until` saying when (by default, when it is stated; what ends later holds until then). Answered with `ended`, or why nothing ended. For types that hold values.
             * @default false
             */
            ends?: boolean;
            /** Evidence */
            evidence?: components["schemas"]["EvidenceIn"][];
            /**
             * Evidence Turn Id
             * @description Short for evidence with just a turn_id.
             */
            evidence_turn_id?: string | null;
            /**
             * Extractor Confidence
             * @description Confidence of the extraction.
             */
            extractor_confidence?: number | null;
            /**
             * From Entity
             * @description Name of the entity the edge starts at.
             * @example Sarah
             */
            from_entity: string;
            /**
             * Importance
             * @description The importance, from 0 to 1, independent of confidence; by default the type's.
             */
            importance?: number | null;
            /**
             * Metadata
             * @description Anything else; questions and lists can filter by it.
             */
            metadata?: {
                [key: string]: unknown;
            };
            /**
             * Occurred At
             * @description When it was stated; now by default. A later statement replaces an earlier.
             */
            occurred_at?: string | null;
            /**
             * Provenance
             * @description Your own record of the memory's origin.
             */
            provenance?: {
                [key: string]: unknown;
            };
            /**
             * Relation Type
             * @description One of reports-to, manages, works-with, member-of, owns, created, uses, located-at, or a synonym.
             * @example reports-to
             */
            relation_type: string;
            /** @description Who sees it: everyone of the tenant, one user, or one agent. By default, with `user_id` that user's, whichever agent it was, unless the type's own scope is the agent; with `agent_id` alone that agent's, unless the type's own scope is global; with neither, global. */
            scope?: components["schemas"]["ScopeKind"] | null;
            /**
             * Sequence Number
             * @description Its place in the session.
             */
            sequence_number?: number | null;
            /**
             * Session Id
             * @description Your id of the conversation.
             */
            session_id?: string | null;
            /**
             * Since
             * @example 2026-05-09
             */
            since?: string | null;
            /**
             * Source Confidence
             * @description The source strength.
             */
            source_confidence?: number | null;
            /**
             * @description The speech act; only an assertion can become an active belief.
             * @default assertion
             */
            speech_act?: components["schemas"]["SpeechAct"];
            /**
             * Timezone
             * @description Where times without an offset are read.
             */
            timezone?: string | null;
            /**
             * To Entity
             * @description Name of the entity the edge ends at.
             * @example Priya
             */
            to_entity: string;
            /**
             * Topic
             * @description A topic of your own choice, to filter by.
             */
            topic?: string | null;
            /**
             * Ttl Seconds
             * @description Instead of valid_until: how long it is true, in seconds from valid_from, or else from when it was stated.
             */
            ttl_seconds?: number | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "relation";
            /**
             * User Id
             * @description Your id of the user: what is stored is that user's, what is asked or listed is what they may see.
             */
            user_id?: string | null;
            /**
             * Valid From
             * @description Since when it is true.
             */
            valid_from?: string | null;
            /**
             * Valid Until
             * @description Until when it is true. What repeats a memory, and was not stated before it, moves its end; without one it leaves it as it is.
             */
            valid_until?: string | null;
        };
        /**
         * RelationMemory
         * @description A typed edge from one named entity to another; where none of the relation types fits, it is a fact.
         */
        RelationMemory: {
            /**
             * Access Count
             * @description Uses that count: what `not_useful` took back is not among them.
             */
            access_count: number;
            /** Agent Id */
            agent_id: string | null;
            category: components["schemas"]["Category"];
            /** Confidence */
            confidence: number;
            confidence_parts: components["schemas"]["ConfidencePartsOut"];
            /** Content */
            content: string;
            /** Contested */
            contested: boolean;
            /**
             * Distinct Sessions
             * @description Sessions it was used in, as far as they are kept (16).
             */
            distinct_sessions: number;
            /** Evidence */
            evidence: components["schemas"]["EvidenceOut"][];
            /** Freshness */
            freshness: number;
            /**
             * From Entity
             * @description Name of the entity the edge starts at.
             * @example Sarah
             */
            from_entity: string;
            /**
             * Id
             * @example mem_0198c5a2f0a87b3c9d2e4f6a8b0c1d2e
             */
            id: string;
            /** Importance */
            importance: number;
            /** Last Accessed At */
            last_accessed_at: string | null;
            /** Links */
            links: components["schemas"]["LinkOut"][];
            /** Metadata */
            metadata: {
                [key: string]: unknown;
            };
            /** Needs Review */
            needs_review: boolean;
            /** Not Useful Count */
            not_useful_count: number;
            /**
             * Occurred At
             * Format: date-time
             * @description When it was said, by the latest that said so.
             */
            occurred_at: string;
            /** Provenance */
            provenance: {
                [key: string]: unknown;
            };
            /**
             * Recorded At
             * Format: date-time
             */
            recorded_at: string;
            /**
             * Relation Type
             * @description One of reports-to, manages, works-with, member-of, owns, created, uses, located-at, or a synonym.
             * @example reports-to
             */
            relation_type: string;
            /** Retired At */
            retired_at: string | null;
            review_reason: components["schemas"]["ReviewReason"] | null;
            scope: components["schemas"]["ScopeKind"];
            /** Sequence Number */
            sequence_number: number | null;
            /** Session Id */
            session_id: string | null;
            /**
             * Since
             * @example 2026-05-09
             */
            since?: string | null;
            /**
             * Slot
             * @description The key under which only one value can be true at a time.
             */
            slot: string | null;
            speech_act: components["schemas"]["SpeechAct"];
            /**
             * Stability
             * @description From 0 to 1: grows with uses that lie days apart.
             */
            stability: number;
            status: components["schemas"]["MemoryStatus"];
            /** Subject */
            subject: string | null;
            /** Superseded By */
            superseded_by: string | null;
            /** Supersedes */
            supersedes: string | null;
            /**
             * To Entity
             * @description Name of the entity the edge ends at.
             * @example Priya
             */
            to_entity: string;
            /** Topic */
            topic: string | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "relation";
            /** Useful Count */
            useful_count: number;
            /** User Id */
            user_id: string | null;
            /**
             * Valid From
             * Format: date-time
             */
            valid_from: string;
            /** Valid Until */
            valid_until: string | null;
            /** Wrong Count */
            wrong_count: number;
        };
        /**
         * RelationWrite
         * @description A typed edge from one named entity to another; where none of the relation types fits, it is a fact.
         * @example {
         *       "from_entity": "Sarah",
         *       "relation_type": "reports-to",
         *       "to_entity": "Priya",
         *       "user_id": "ana"
         *     }
         */
        RelationWrite: {
            /**
             * Agent Id
             * @description Your id of the agent: what is stored is that agent's, what is asked or listed is what it may see.
             */
            agent_id?: string | null;
            /** @description The category; by default the type's. */
            category?: components["schemas"]["Category"] | null;
            /**
             * Content
             * @description The sentence to remember, instead of one made from the fields.
             */
            content?: string | null;
            /**
             * Context
             * @description The text just before it: searched, never shown.
             */
            context?: string | null;
            /**
             * Ends
             * @description This is no longer so: nothing is stored, and what is held so ends, `valid_until` saying when (by default, when it is stated; what ends later holds until then). Answered with `ended`, or why nothing ended. For types that hold values.
             * @default false
             */
            ends?: boolean;
            /** Evidence */
            evidence?: components["schemas"]["EvidenceIn"][];
            /**
             * Evidence Turn Id
             * @description Short for evidence with just a turn_id.
             */
            evidence_turn_id?: string | null;
            /**
             * Extractor Confidence
             * @description Confidence of the extraction.
             */
            extractor_confidence?: number | null;
            /**
             * From Entity
             * @description Name of the entity the edge starts at.
             * @example Sarah
             */
            from_entity: string;
            /**
             * Importance
             * @description The importance, from 0 to 1, independent of confidence; by default the type's.
             */
            importance?: number | null;
            /**
             * Metadata
             * @description Anything else; questions and lists can filter by it.
             */
            metadata?: {
                [key: string]: unknown;
            };
            /**
             * Occurred At
             * @description When it was stated; now by default. A later statement replaces an earlier.
             */
            occurred_at?: string | null;
            /**
             * Provenance
             * @description Your own record of the memory's origin.
             */
            provenance?: {
                [key: string]: unknown;
            };
            /**
             * Relation Type
             * @description One of reports-to, manages, works-with, member-of, owns, created, uses, located-at, or a synonym.
             * @example reports-to
             */
            relation_type: string;
            /** @description Who sees it: everyone of the tenant, one user, or one agent. By default, with `user_id` that user's, whichever agent it was, unless the type's own scope is the agent; with `agent_id` alone that agent's, unless the type's own scope is global; with neither, global. */
            scope?: components["schemas"]["ScopeKind"] | null;
            /**
             * Sequence Number
             * @description Its place in the session.
             */
            sequence_number?: number | null;
            /**
             * Session Id
             * @description Your id of the conversation.
             */
            session_id?: string | null;
            /**
             * Since
             * @example 2026-05-09
             */
            since?: string | null;
            /**
             * Source Confidence
             * @description The source strength.
             */
            source_confidence?: number | null;
            /**
             * @description The speech act; only an assertion can become an active belief.
             * @default assertion
             */
            speech_act?: components["schemas"]["SpeechAct"];
            /**
             * Timezone
             * @description Where times without an offset are read.
             */
            timezone?: string | null;
            /**
             * To Entity
             * @description Name of the entity the edge ends at.
             * @example Priya
             */
            to_entity: string;
            /**
             * Topic
             * @description A topic of your own choice, to filter by.
             */
            topic?: string | null;
            /**
             * Ttl Seconds
             * @description Instead of valid_until: how long it is true, in seconds from valid_from, or else from when it was stated.
             */
            ttl_seconds?: number | null;
            /**
             * Type
             * @description May be left out: the route says it.
             */
            type?: "relation" | null;
            /**
             * User Id
             * @description Your id of the user: what is stored is that user's, what is asked or listed is what they may see.
             */
            user_id?: string | null;
            /**
             * Valid From
             * @description Since when it is true.
             */
            valid_from?: string | null;
            /**
             * Valid Until
             * @description Until when it is true. What repeats a memory, and was not stated before it, moves its end; without one it leaves it as it is.
             */
            valid_until?: string | null;
        };
        /**
         * ReviewAction
         * @description An action of a reviewer on an item.
         * @enum {string}
         */
        ReviewAction: "accept" | "reject" | "keep_both" | "supersede_with" | "merge" | "end";
        /**
         * ReviewDetail
         * @description An item with its details; of an item that left the queue, how it left.
         */
        ReviewDetail: {
            decided: components["schemas"]["DecidedOut"] | null;
            /** Evidence */
            evidence: components["schemas"]["PassageOut"][];
            /** Id */
            id: string;
            if_accepted: components["schemas"]["PreviewOut"] | null;
            item: components["schemas"]["ReviewItem"] | null;
            memory: components["schemas"]["Memory"] | null;
            /** Near */
            near: components["schemas"]["NearDuplicate"][];
            /** Open */
            open: boolean;
        };
        /**
         * ReviewItem
         * @description A memory that waits for a decision; `version` changes when it or one of its sides does.
         */
        ReviewItem: {
            /** Age Seconds */
            age_seconds: number;
            /** Id */
            id: string;
            memory: components["schemas"]["Memory"];
            /** Note */
            note: string | null;
            reason: components["schemas"]["ReviewReason"];
            /** Sides */
            sides: components["schemas"]["ReviewSide"][];
            /**
             * Since
             * Format: date-time
             */
            since: string;
            suggestion: components["schemas"]["SuggestionOut"];
            /** Version */
            version: string;
        };
        /**
         * ReviewMoved
         * @description The item has changed: its new state.
         */
        ReviewMoved: {
            decided?: components["schemas"]["DecidedOut"] | null;
            /** Detail */
            detail: string;
            /**
             * Errors
             * @description The fields at fault, if there are any.
             */
            errors?: components["schemas"]["FieldError"][] | null;
            /**
             * Instance
             * @description The path that was asked for.
             */
            instance: string;
            item?: components["schemas"]["ReviewItem"] | null;
            /** Request Id */
            request_id: string;
            /** Status */
            status: number;
            /** Title */
            title: string;
            /**
             * Type
             * @description Stable name of the kind of problem.
             * @example urn:typed-memory:problem:not-found
             */
            type: string;
        };
        /**
         * ReviewOutcome
         * @description The outcome of a decision.
         */
        ReviewOutcome: {
            action: components["schemas"]["ReviewAction"];
            /** Affected */
            affected: components["schemas"]["AffectedOut"][];
            /** Id */
            id: string;
            memory: components["schemas"]["Memory"] | null;
            /** Outcome */
            outcome: string;
            /** @description The receipt of the erasure, where the user asked to forget it and it was accepted. */
            receipt?: components["schemas"]["ReceiptOut"] | null;
        };
        /**
         * ReviewPage
         * @description Some items.
         */
        ReviewPage: {
            /** Items */
            items: components["schemas"]["ReviewItem"][];
            /** Next Cursor */
            next_cursor: string | null;
        };
        /**
         * ReviewReason
         * @description The reason to review a memory; what is `withheld` waits with another memory, and is no item of its own.
         * @enum {string}
         */
        ReviewReason: "contradiction" | "doubtful" | "reported_wrong" | "volatile" | "constraint" | "entity_merge" | "asked" | "erasure" | "withheld";
        /**
         * ReviewSide
         * @description A memory that conflicts with the item.
         */
        ReviewSide: {
            memory: components["schemas"]["Memory"];
            relation: components["schemas"]["LinkKind"];
            /** Same Value */
            same_value: boolean;
        };
        /**
         * ReviewUndoneOut
         * @description The item's memory as it is again, and other memories that changed back.
         */
        ReviewUndoneOut: {
            /** Affected */
            affected: components["schemas"]["AffectedOut"][];
            memory: components["schemas"]["Memory"] | null;
            /** Outcome */
            outcome: string;
        };
        /**
         * ReviewerStatement
         * @description A reviewer's own statement: a memory's type and that type's fields.
         */
        ReviewerStatement: {
            /**
             * Payload
             * @example {
             *       "object": "Volkswagen",
             *       "predicate": "works-at"
             *     }
             */
            payload: {
                [key: string]: unknown;
            };
            /**
             * Type
             * @description The memory's type, such as `fact`.
             * @example fact
             */
            type: string;
        };
        /**
         * Role
         * @description The role of a turn's author, which caps the source strength.
         * @enum {string}
         */
        Role: "user" | "assistant" | "tool" | "system";
        /**
         * ScopeKind
         * @description The three visibility buckets of a tenant.
         * @enum {string}
         */
        ScopeKind: "global" | "user" | "agent";
        /**
         * SemanticItem
         * @description Something known for good, as a sentence; saying it again, or nearly so, merges.
         * @example {
         *       "content": "User is a Python developer based in Manchester",
         *       "entity_id": "user_123",
         *       "type": "semantic",
         *       "user_id": "ana"
         *     }
         */
        SemanticItem: {
            /**
             * Agent Id
             * @description Your id of the agent: what is stored is that agent's, what is asked or listed is what it may see.
             */
            agent_id?: string | null;
            /** @description The category; by default the type's. */
            category?: components["schemas"]["Category"] | null;
            /**
             * Content
             * @description What is known.
             */
            content: string;
            /**
             * Context
             * @description The text just before it: searched, never shown.
             */
            context?: string | null;
            /**
             * Ends
             * @description This is no longer so: nothing is stored, and what is held so ends, `valid_until` saying when (by default, when it is stated; what ends later holds until then). Answered with `ended`, or why nothing ended. For types that hold values.
             * @default false
             */
            ends?: boolean;
            /**
             * Entity Id
             * @description The user, project or concept it is about, by name, by an id of your own, or by its id here (`ent_...`), which must be that of an entity in the scope the memory is written to.
             */
            entity_id?: string | null;
            /** Evidence */
            evidence?: components["schemas"]["EvidenceIn"][];
            /**
             * Evidence Turn Id
             * @description Short for evidence with just a turn_id.
             */
            evidence_turn_id?: string | null;
            /**
             * Extractor Confidence
             * @description Confidence of the extraction.
             */
            extractor_confidence?: number | null;
            /**
             * Importance
             * @description The importance, from 0 to 1, independent of confidence; by default the type's.
             */
            importance?: number | null;
            /**
             * Metadata
             * @description Anything else; questions and lists can filter by it.
             */
            metadata?: {
                [key: string]: unknown;
            };
            /**
             * Occurred At
             * @description When it was stated; now by default. A later statement replaces an earlier.
             */
            occurred_at?: string | null;
            /**
             * Provenance
             * @description Your own record of the memory's origin.
             */
            provenance?: {
                [key: string]: unknown;
            };
            /** @description Who sees it: everyone of the tenant, one user, or one agent. By default, with `user_id` that user's, whichever agent it was, unless the type's own scope is the agent; with `agent_id` alone that agent's, unless the type's own scope is global; with neither, global. */
            scope?: components["schemas"]["ScopeKind"] | null;
            /**
             * Sequence Number
             * @description Its place in the session.
             */
            sequence_number?: number | null;
            /**
             * Session Id
             * @description Your id of the conversation.
             */
            session_id?: string | null;
            /**
             * Source Confidence
             * @description The source strength.
             */
            source_confidence?: number | null;
            /**
             * @description The speech act; only an assertion can become an active belief.
             * @default assertion
             */
            speech_act?: components["schemas"]["SpeechAct"];
            /**
             * Timezone
             * @description Where times without an offset are read.
             */
            timezone?: string | null;
            /**
             * Topic
             * @description A topic of your own choice, to filter by.
             */
            topic?: string | null;
            /**
             * Ttl Seconds
             * @description Instead of valid_until: how long it is true, in seconds from valid_from, or else from when it was stated.
             */
            ttl_seconds?: number | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "semantic";
            /**
             * User Id
             * @description Your id of the user: what is stored is that user's, what is asked or listed is what they may see.
             */
            user_id?: string | null;
            /**
             * Valid From
             * @description Since when it is true.
             */
            valid_from?: string | null;
            /**
             * Valid Until
             * @description Until when it is true. What repeats a memory, and was not stated before it, moves its end; without one it leaves it as it is.
             */
            valid_until?: string | null;
        };
        /**
         * SemanticMemory
         * @description Something known for good, as a sentence; saying it again, or nearly so, merges.
         */
        SemanticMemory: {
            /**
             * Access Count
             * @description Uses that count: what `not_useful` took back is not among them.
             */
            access_count: number;
            /** Agent Id */
            agent_id: string | null;
            category: components["schemas"]["Category"];
            /** Confidence */
            confidence: number;
            confidence_parts: components["schemas"]["ConfidencePartsOut"];
            /**
             * Content
             * @description What is known.
             */
            content: string;
            /** Contested */
            contested: boolean;
            /**
             * Distinct Sessions
             * @description Sessions it was used in, as far as they are kept (16).
             */
            distinct_sessions: number;
            /**
             * Entity Id
             * @description The user, project or concept it is about, by name, by an id of your own, or by its id here (`ent_...`), which must be that of an entity in the scope the memory is written to.
             */
            entity_id?: string | null;
            /** Evidence */
            evidence: components["schemas"]["EvidenceOut"][];
            /** Freshness */
            freshness: number;
            /**
             * Id
             * @example mem_0198c5a2f0a87b3c9d2e4f6a8b0c1d2e
             */
            id: string;
            /** Importance */
            importance: number;
            /** Last Accessed At */
            last_accessed_at: string | null;
            /** Links */
            links: components["schemas"]["LinkOut"][];
            /** Metadata */
            metadata: {
                [key: string]: unknown;
            };
            /** Needs Review */
            needs_review: boolean;
            /** Not Useful Count */
            not_useful_count: number;
            /**
             * Occurred At
             * Format: date-time
             * @description When it was said, by the latest that said so.
             */
            occurred_at: string;
            /** Provenance */
            provenance: {
                [key: string]: unknown;
            };
            /**
             * Recorded At
             * Format: date-time
             */
            recorded_at: string;
            /** Retired At */
            retired_at: string | null;
            review_reason: components["schemas"]["ReviewReason"] | null;
            scope: components["schemas"]["ScopeKind"];
            /** Sequence Number */
            sequence_number: number | null;
            /** Session Id */
            session_id: string | null;
            /**
             * Slot
             * @description The key under which only one value can be true at a time.
             */
            slot: string | null;
            speech_act: components["schemas"]["SpeechAct"];
            /**
             * Stability
             * @description From 0 to 1: grows with uses that lie days apart.
             */
            stability: number;
            status: components["schemas"]["MemoryStatus"];
            /** Subject */
            subject: string | null;
            /** Superseded By */
            superseded_by: string | null;
            /** Supersedes */
            supersedes: string | null;
            /** Topic */
            topic: string | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "semantic";
            /** Useful Count */
            useful_count: number;
            /** User Id */
            user_id: string | null;
            /**
             * Valid From
             * Format: date-time
             */
            valid_from: string;
            /** Valid Until */
            valid_until: string | null;
            /** Wrong Count */
            wrong_count: number;
        };
        /**
         * SemanticWrite
         * @description Something known for good, as a sentence; saying it again, or nearly so, merges.
         * @example {
         *       "content": "User is a Python developer based in Manchester",
         *       "entity_id": "user_123",
         *       "user_id": "ana"
         *     }
         */
        SemanticWrite: {
            /**
             * Agent Id
             * @description Your id of the agent: what is stored is that agent's, what is asked or listed is what it may see.
             */
            agent_id?: string | null;
            /** @description The category; by default the type's. */
            category?: components["schemas"]["Category"] | null;
            /**
             * Content
             * @description What is known.
             */
            content: string;
            /**
             * Context
             * @description The text just before it: searched, never shown.
             */
            context?: string | null;
            /**
             * Ends
             * @description This is no longer so: nothing is stored, and what is held so ends, `valid_until` saying when (by default, when it is stated; what ends later holds until then). Answered with `ended`, or why nothing ended. For types that hold values.
             * @default false
             */
            ends?: boolean;
            /**
             * Entity Id
             * @description The user, project or concept it is about, by name, by an id of your own, or by its id here (`ent_...`), which must be that of an entity in the scope the memory is written to.
             */
            entity_id?: string | null;
            /** Evidence */
            evidence?: components["schemas"]["EvidenceIn"][];
            /**
             * Evidence Turn Id
             * @description Short for evidence with just a turn_id.
             */
            evidence_turn_id?: string | null;
            /**
             * Extractor Confidence
             * @description Confidence of the extraction.
             */
            extractor_confidence?: number | null;
            /**
             * Importance
             * @description The importance, from 0 to 1, independent of confidence; by default the type's.
             */
            importance?: number | null;
            /**
             * Metadata
             * @description Anything else; questions and lists can filter by it.
             */
            metadata?: {
                [key: string]: unknown;
            };
            /**
             * Occurred At
             * @description When it was stated; now by default. A later statement replaces an earlier.
             */
            occurred_at?: string | null;
            /**
             * Provenance
             * @description Your own record of the memory's origin.
             */
            provenance?: {
                [key: string]: unknown;
            };
            /** @description Who sees it: everyone of the tenant, one user, or one agent. By default, with `user_id` that user's, whichever agent it was, unless the type's own scope is the agent; with `agent_id` alone that agent's, unless the type's own scope is global; with neither, global. */
            scope?: components["schemas"]["ScopeKind"] | null;
            /**
             * Sequence Number
             * @description Its place in the session.
             */
            sequence_number?: number | null;
            /**
             * Session Id
             * @description Your id of the conversation.
             */
            session_id?: string | null;
            /**
             * Source Confidence
             * @description The source strength.
             */
            source_confidence?: number | null;
            /**
             * @description The speech act; only an assertion can become an active belief.
             * @default assertion
             */
            speech_act?: components["schemas"]["SpeechAct"];
            /**
             * Timezone
             * @description Where times without an offset are read.
             */
            timezone?: string | null;
            /**
             * Topic
             * @description A topic of your own choice, to filter by.
             */
            topic?: string | null;
            /**
             * Ttl Seconds
             * @description Instead of valid_until: how long it is true, in seconds from valid_from, or else from when it was stated.
             */
            ttl_seconds?: number | null;
            /**
             * Type
             * @description May be left out: the route says it.
             */
            type?: "semantic" | null;
            /**
             * User Id
             * @description Your id of the user: what is stored is that user's, what is asked or listed is what they may see.
             */
            user_id?: string | null;
            /**
             * Valid From
             * @description Since when it is true.
             */
            valid_from?: string | null;
            /**
             * Valid Until
             * @description Until when it is true. What repeats a memory, and was not stated before it, moves its end; without one it leaves it as it is.
             */
            valid_until?: string | null;
        };
        /**
         * SessionOut
         * @description A session that memories come from.
         */
        SessionOut: {
            /**
             * First At
             * Format: date-time
             */
            first_at: string;
            /**
             * Last At
             * Format: date-time
             */
            last_at: string;
            /** Memories */
            memories: number;
            /** Session Id */
            session_id: string;
            /** Turns */
            turns: number;
        };
        /**
         * SessionPage
         * @description Some sessions, in the order of their ids.
         */
        SessionPage: {
            /** Next Cursor */
            next_cursor: string | null;
            /** Sessions */
            sessions: components["schemas"]["SessionOut"][];
        };
        /**
         * SourceOut
         * @description The turn that a memory rests on, and whose it was.
         */
        SourceOut: {
            /** Role */
            role: string | null;
            /** Turn Id */
            turn_id: string | null;
        };
        /**
         * SpeechAct
         * @description The speech act of a statement; only assertions replace or end memories.
         * @enum {string}
         */
        SpeechAct: "assertion" | "hypothetical" | "roleplay" | "sarcasm" | "quotation" | "question" | "negation";
        /**
         * StageOut
         * @description The numbers of items into and out of a stage, those it dropped, and its milliseconds.
         */
        StageOut: {
            /** Dropped */
            dropped: components["schemas"]["DroppedOut"][];
            /** Kept */
            kept: number;
            /** Notes */
            notes: string[];
            /** Seen */
            seen: number;
            /** Stage */
            stage: string;
            /** Took Ms */
            took_ms: number;
        };
        /**
         * StandardItem
         * @description Anything worth remembering that no other type fits.
         * @example {
         *       "content": "The staging server is rebuilt every night.",
         *       "type": "standard",
         *       "user_id": "ana"
         *     }
         */
        StandardItem: {
            /**
             * Agent Id
             * @description Your id of the agent: what is stored is that agent's, what is asked or listed is what it may see.
             */
            agent_id?: string | null;
            /** @description The category; by default the type's. */
            category?: components["schemas"]["Category"] | null;
            /**
             * Content
             * @description Anything worth remembering that no other type fits.
             */
            content: string;
            /**
             * Context
             * @description The text just before it: searched, never shown.
             */
            context?: string | null;
            /**
             * Ends
             * @description This is no longer so: nothing is stored, and what is held so ends, `valid_until` saying when (by default, when it is stated; what ends later holds until then). Answered with `ended`, or why nothing ended. For types that hold values.
             * @default false
             */
            ends?: boolean;
            /** Evidence */
            evidence?: components["schemas"]["EvidenceIn"][];
            /**
             * Evidence Turn Id
             * @description Short for evidence with just a turn_id.
             */
            evidence_turn_id?: string | null;
            /**
             * Extractor Confidence
             * @description Confidence of the extraction.
             */
            extractor_confidence?: number | null;
            /**
             * Importance
             * @description The importance, from 0 to 1, independent of confidence; by default the type's.
             */
            importance?: number | null;
            /**
             * Metadata
             * @description Anything else; questions and lists can filter by it.
             */
            metadata?: {
                [key: string]: unknown;
            };
            /**
             * Occurred At
             * @description When it was stated; now by default. A later statement replaces an earlier.
             */
            occurred_at?: string | null;
            /**
             * Provenance
             * @description Your own record of the memory's origin.
             */
            provenance?: {
                [key: string]: unknown;
            };
            /** @description Who sees it: everyone of the tenant, one user, or one agent. By default, with `user_id` that user's, whichever agent it was, unless the type's own scope is the agent; with `agent_id` alone that agent's, unless the type's own scope is global; with neither, global. */
            scope?: components["schemas"]["ScopeKind"] | null;
            /**
             * Sequence Number
             * @description Its place in the session.
             */
            sequence_number?: number | null;
            /**
             * Session Id
             * @description Your id of the conversation.
             */
            session_id?: string | null;
            /**
             * Source Confidence
             * @description The source strength.
             */
            source_confidence?: number | null;
            /**
             * @description The speech act; only an assertion can become an active belief.
             * @default assertion
             */
            speech_act?: components["schemas"]["SpeechAct"];
            /**
             * Timezone
             * @description Where times without an offset are read.
             */
            timezone?: string | null;
            /**
             * Topic
             * @description A topic of your own choice, to filter by.
             */
            topic?: string | null;
            /**
             * Ttl Seconds
             * @description Instead of valid_until: how long it is true, in seconds from valid_from, or else from when it was stated.
             */
            ttl_seconds?: number | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "standard";
            /**
             * User Id
             * @description Your id of the user: what is stored is that user's, what is asked or listed is what they may see.
             */
            user_id?: string | null;
            /**
             * Valid From
             * @description Since when it is true.
             */
            valid_from?: string | null;
            /**
             * Valid Until
             * @description Until when it is true. What repeats a memory, and was not stated before it, moves its end; without one it leaves it as it is.
             */
            valid_until?: string | null;
        };
        /**
         * StandardMemory
         * @description Anything worth remembering that no other type fits.
         */
        StandardMemory: {
            /**
             * Access Count
             * @description Uses that count: what `not_useful` took back is not among them.
             */
            access_count: number;
            /** Agent Id */
            agent_id: string | null;
            category: components["schemas"]["Category"];
            /** Confidence */
            confidence: number;
            confidence_parts: components["schemas"]["ConfidencePartsOut"];
            /**
             * Content
             * @description Anything worth remembering that no other type fits.
             */
            content: string;
            /** Contested */
            contested: boolean;
            /**
             * Distinct Sessions
             * @description Sessions it was used in, as far as they are kept (16).
             */
            distinct_sessions: number;
            /** Evidence */
            evidence: components["schemas"]["EvidenceOut"][];
            /** Freshness */
            freshness: number;
            /**
             * Id
             * @example mem_0198c5a2f0a87b3c9d2e4f6a8b0c1d2e
             */
            id: string;
            /** Importance */
            importance: number;
            /** Last Accessed At */
            last_accessed_at: string | null;
            /** Links */
            links: components["schemas"]["LinkOut"][];
            /** Metadata */
            metadata: {
                [key: string]: unknown;
            };
            /** Needs Review */
            needs_review: boolean;
            /** Not Useful Count */
            not_useful_count: number;
            /**
             * Occurred At
             * Format: date-time
             * @description When it was said, by the latest that said so.
             */
            occurred_at: string;
            /** Provenance */
            provenance: {
                [key: string]: unknown;
            };
            /**
             * Recorded At
             * Format: date-time
             */
            recorded_at: string;
            /** Retired At */
            retired_at: string | null;
            review_reason: components["schemas"]["ReviewReason"] | null;
            scope: components["schemas"]["ScopeKind"];
            /** Sequence Number */
            sequence_number: number | null;
            /** Session Id */
            session_id: string | null;
            /**
             * Slot
             * @description The key under which only one value can be true at a time.
             */
            slot: string | null;
            speech_act: components["schemas"]["SpeechAct"];
            /**
             * Stability
             * @description From 0 to 1: grows with uses that lie days apart.
             */
            stability: number;
            status: components["schemas"]["MemoryStatus"];
            /** Subject */
            subject: string | null;
            /** Superseded By */
            superseded_by: string | null;
            /** Supersedes */
            supersedes: string | null;
            /** Topic */
            topic: string | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "standard";
            /** Useful Count */
            useful_count: number;
            /** User Id */
            user_id: string | null;
            /**
             * Valid From
             * Format: date-time
             */
            valid_from: string;
            /** Valid Until */
            valid_until: string | null;
            /** Wrong Count */
            wrong_count: number;
        };
        /**
         * StandardWrite
         * @description Anything worth remembering that no other type fits.
         * @example {
         *       "content": "The staging server is rebuilt every night.",
         *       "user_id": "ana"
         *     }
         */
        StandardWrite: {
            /**
             * Agent Id
             * @description Your id of the agent: what is stored is that agent's, what is asked or listed is what it may see.
             */
            agent_id?: string | null;
            /** @description The category; by default the type's. */
            category?: components["schemas"]["Category"] | null;
            /**
             * Content
             * @description Anything worth remembering that no other type fits.
             */
            content: string;
            /**
             * Context
             * @description The text just before it: searched, never shown.
             */
            context?: string | null;
            /**
             * Ends
             * @description This is no longer so: nothing is stored, and what is held so ends, `valid_until` saying when (by default, when it is stated; what ends later holds until then). Answered with `ended`, or why nothing ended. For types that hold values.
             * @default false
             */
            ends?: boolean;
            /** Evidence */
            evidence?: components["schemas"]["EvidenceIn"][];
            /**
             * Evidence Turn Id
             * @description Short for evidence with just a turn_id.
             */
            evidence_turn_id?: string | null;
            /**
             * Extractor Confidence
             * @description Confidence of the extraction.
             */
            extractor_confidence?: number | null;
            /**
             * Importance
             * @description The importance, from 0 to 1, independent of confidence; by default the type's.
             */
            importance?: number | null;
            /**
             * Metadata
             * @description Anything else; questions and lists can filter by it.
             */
            metadata?: {
                [key: string]: unknown;
            };
            /**
             * Occurred At
             * @description When it was stated; now by default. A later statement replaces an earlier.
             */
            occurred_at?: string | null;
            /**
             * Provenance
             * @description Your own record of the memory's origin.
             */
            provenance?: {
                [key: string]: unknown;
            };
            /** @description Who sees it: everyone of the tenant, one user, or one agent. By default, with `user_id` that user's, whichever agent it was, unless the type's own scope is the agent; with `agent_id` alone that agent's, unless the type's own scope is global; with neither, global. */
            scope?: components["schemas"]["ScopeKind"] | null;
            /**
             * Sequence Number
             * @description Its place in the session.
             */
            sequence_number?: number | null;
            /**
             * Session Id
             * @description Your id of the conversation.
             */
            session_id?: string | null;
            /**
             * Source Confidence
             * @description The source strength.
             */
            source_confidence?: number | null;
            /**
             * @description The speech act; only an assertion can become an active belief.
             * @default assertion
             */
            speech_act?: components["schemas"]["SpeechAct"];
            /**
             * Timezone
             * @description Where times without an offset are read.
             */
            timezone?: string | null;
            /**
             * Topic
             * @description A topic of your own choice, to filter by.
             */
            topic?: string | null;
            /**
             * Ttl Seconds
             * @description Instead of valid_until: how long it is true, in seconds from valid_from, or else from when it was stated.
             */
            ttl_seconds?: number | null;
            /**
             * Type
             * @description May be left out: the route says it.
             */
            type?: "standard" | null;
            /**
             * User Id
             * @description Your id of the user: what is stored is that user's, what is asked or listed is what they may see.
             */
            user_id?: string | null;
            /**
             * Valid From
             * @description Since when it is true.
             */
            valid_from?: string | null;
            /**
             * Valid Until
             * @description Until when it is true. What repeats a memory, and was not stated before it, moves its end; without one it leaves it as it is.
             */
            valid_until?: string | null;
        };
        /**
         * StrategyItem
         * @description A strategy that worked and is worth using again.
         * @example {
         *       "content": "Bisecting the failing batch finds the broken row fastest.",
         *       "type": "strategy",
         *       "user_id": "ana"
         *     }
         */
        StrategyItem: {
            /**
             * Agent Id
             * @description Your id of the agent: what is stored is that agent's, what is asked or listed is what it may see.
             */
            agent_id?: string | null;
            /** @description The category; by default the type's. */
            category?: components["schemas"]["Category"] | null;
            /**
             * Content
             * @description A strategy that worked and is worth using again.
             */
            content: string;
            /**
             * Context
             * @description The text just before it: searched, never shown.
             */
            context?: string | null;
            /**
             * Ends
             * @description This is no longer so: nothing is stored, and what is held so ends, `valid_until` saying when (by default, when it is stated; what ends later holds until then). Answered with `ended`, or why nothing ended. For types that hold values.
             * @default false
             */
            ends?: boolean;
            /** Evidence */
            evidence?: components["schemas"]["EvidenceIn"][];
            /**
             * Evidence Turn Id
             * @description Short for evidence with just a turn_id.
             */
            evidence_turn_id?: string | null;
            /**
             * Extractor Confidence
             * @description Confidence of the extraction.
             */
            extractor_confidence?: number | null;
            /**
             * Importance
             * @description The importance, from 0 to 1, independent of confidence; by default the type's.
             */
            importance?: number | null;
            /**
             * Metadata
             * @description Anything else; questions and lists can filter by it.
             */
            metadata?: {
                [key: string]: unknown;
            };
            /**
             * Occurred At
             * @description When it was stated; now by default. A later statement replaces an earlier.
             */
            occurred_at?: string | null;
            /**
             * Provenance
             * @description Your own record of the memory's origin.
             */
            provenance?: {
                [key: string]: unknown;
            };
            /** @description Who sees it: everyone of the tenant, one user, or one agent. By default, with `user_id` that user's, whichever agent it was, unless the type's own scope is the agent; with `agent_id` alone that agent's, unless the type's own scope is global; with neither, global. */
            scope?: components["schemas"]["ScopeKind"] | null;
            /**
             * Sequence Number
             * @description Its place in the session.
             */
            sequence_number?: number | null;
            /**
             * Session Id
             * @description Your id of the conversation.
             */
            session_id?: string | null;
            /**
             * Source Confidence
             * @description The source strength.
             */
            source_confidence?: number | null;
            /**
             * @description The speech act; only an assertion can become an active belief.
             * @default assertion
             */
            speech_act?: components["schemas"]["SpeechAct"];
            /**
             * Timezone
             * @description Where times without an offset are read.
             */
            timezone?: string | null;
            /**
             * Topic
             * @description A topic of your own choice, to filter by.
             */
            topic?: string | null;
            /**
             * Ttl Seconds
             * @description Instead of valid_until: how long it is true, in seconds from valid_from, or else from when it was stated.
             */
            ttl_seconds?: number | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "strategy";
            /**
             * User Id
             * @description Your id of the user: what is stored is that user's, what is asked or listed is what they may see.
             */
            user_id?: string | null;
            /**
             * Valid From
             * @description Since when it is true.
             */
            valid_from?: string | null;
            /**
             * Valid Until
             * @description Until when it is true. What repeats a memory, and was not stated before it, moves its end; without one it leaves it as it is.
             */
            valid_until?: string | null;
        };
        /**
         * StrategyMemory
         * @description A strategy that worked and is worth using again.
         */
        StrategyMemory: {
            /**
             * Access Count
             * @description Uses that count: what `not_useful` took back is not among them.
             */
            access_count: number;
            /** Agent Id */
            agent_id: string | null;
            category: components["schemas"]["Category"];
            /** Confidence */
            confidence: number;
            confidence_parts: components["schemas"]["ConfidencePartsOut"];
            /**
             * Content
             * @description A strategy that worked and is worth using again.
             */
            content: string;
            /** Contested */
            contested: boolean;
            /**
             * Distinct Sessions
             * @description Sessions it was used in, as far as they are kept (16).
             */
            distinct_sessions: number;
            /** Evidence */
            evidence: components["schemas"]["EvidenceOut"][];
            /** Freshness */
            freshness: number;
            /**
             * Id
             * @example mem_0198c5a2f0a87b3c9d2e4f6a8b0c1d2e
             */
            id: string;
            /** Importance */
            importance: number;
            /** Last Accessed At */
            last_accessed_at: string | null;
            /** Links */
            links: components["schemas"]["LinkOut"][];
            /** Metadata */
            metadata: {
                [key: string]: unknown;
            };
            /** Needs Review */
            needs_review: boolean;
            /** Not Useful Count */
            not_useful_count: number;
            /**
             * Occurred At
             * Format: date-time
             * @description When it was said, by the latest that said so.
             */
            occurred_at: string;
            /** Provenance */
            provenance: {
                [key: string]: unknown;
            };
            /**
             * Recorded At
             * Format: date-time
             */
            recorded_at: string;
            /** Retired At */
            retired_at: string | null;
            review_reason: components["schemas"]["ReviewReason"] | null;
            scope: components["schemas"]["ScopeKind"];
            /** Sequence Number */
            sequence_number: number | null;
            /** Session Id */
            session_id: string | null;
            /**
             * Slot
             * @description The key under which only one value can be true at a time.
             */
            slot: string | null;
            speech_act: components["schemas"]["SpeechAct"];
            /**
             * Stability
             * @description From 0 to 1: grows with uses that lie days apart.
             */
            stability: number;
            status: components["schemas"]["MemoryStatus"];
            /** Subject */
            subject: string | null;
            /** Superseded By */
            superseded_by: string | null;
            /** Supersedes */
            supersedes: string | null;
            /** Topic */
            topic: string | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "strategy";
            /** Useful Count */
            useful_count: number;
            /** User Id */
            user_id: string | null;
            /**
             * Valid From
             * Format: date-time
             */
            valid_from: string;
            /** Valid Until */
            valid_until: string | null;
            /** Wrong Count */
            wrong_count: number;
        };
        /**
         * StrategyWrite
         * @description A strategy that worked and is worth using again.
         * @example {
         *       "content": "Bisecting the failing batch finds the broken row fastest.",
         *       "user_id": "ana"
         *     }
         */
        StrategyWrite: {
            /**
             * Agent Id
             * @description Your id of the agent: what is stored is that agent's, what is asked or listed is what it may see.
             */
            agent_id?: string | null;
            /** @description The category; by default the type's. */
            category?: components["schemas"]["Category"] | null;
            /**
             * Content
             * @description A strategy that worked and is worth using again.
             */
            content: string;
            /**
             * Context
             * @description The text just before it: searched, never shown.
             */
            context?: string | null;
            /**
             * Ends
             * @description This is no longer so: nothing is stored, and what is held so ends, `valid_until` saying when (by default, when it is stated; what ends later holds until then). Answered with `ended`, or why nothing ended. For types that hold values.
             * @default false
             */
            ends?: boolean;
            /** Evidence */
            evidence?: components["schemas"]["EvidenceIn"][];
            /**
             * Evidence Turn Id
             * @description Short for evidence with just a turn_id.
             */
            evidence_turn_id?: string | null;
            /**
             * Extractor Confidence
             * @description Confidence of the extraction.
             */
            extractor_confidence?: number | null;
            /**
             * Importance
             * @description The importance, from 0 to 1, independent of confidence; by default the type's.
             */
            importance?: number | null;
            /**
             * Metadata
             * @description Anything else; questions and lists can filter by it.
             */
            metadata?: {
                [key: string]: unknown;
            };
            /**
             * Occurred At
             * @description When it was stated; now by default. A later statement replaces an earlier.
             */
            occurred_at?: string | null;
            /**
             * Provenance
             * @description Your own record of the memory's origin.
             */
            provenance?: {
                [key: string]: unknown;
            };
            /** @description Who sees it: everyone of the tenant, one user, or one agent. By default, with `user_id` that user's, whichever agent it was, unless the type's own scope is the agent; with `agent_id` alone that agent's, unless the type's own scope is global; with neither, global. */
            scope?: components["schemas"]["ScopeKind"] | null;
            /**
             * Sequence Number
             * @description Its place in the session.
             */
            sequence_number?: number | null;
            /**
             * Session Id
             * @description Your id of the conversation.
             */
            session_id?: string | null;
            /**
             * Source Confidence
             * @description The source strength.
             */
            source_confidence?: number | null;
            /**
             * @description The speech act; only an assertion can become an active belief.
             * @default assertion
             */
            speech_act?: components["schemas"]["SpeechAct"];
            /**
             * Timezone
             * @description Where times without an offset are read.
             */
            timezone?: string | null;
            /**
             * Topic
             * @description A topic of your own choice, to filter by.
             */
            topic?: string | null;
            /**
             * Ttl Seconds
             * @description Instead of valid_until: how long it is true, in seconds from valid_from, or else from when it was stated.
             */
            ttl_seconds?: number | null;
            /**
             * Type
             * @description May be left out: the route says it.
             */
            type?: "strategy" | null;
            /**
             * User Id
             * @description Your id of the user: what is stored is that user's, what is asked or listed is what they may see.
             */
            user_id?: string | null;
            /**
             * Valid From
             * @description Since when it is true.
             */
            valid_from?: string | null;
            /**
             * Valid Until
             * @description Until when it is true. What repeats a memory, and was not stated before it, moves its end; without one it leaves it as it is.
             */
            valid_until?: string | null;
        };
        /**
         * SuggestionOut
         * @description The action that the rules suggest, and the reason.
         */
        SuggestionOut: {
            action: components["schemas"]["ReviewAction"];
            /** Reason */
            reason: string;
            /**
             * With
             * @description The memory that the action names, if it names one.
             */
            with: string | null;
        };
        /**
         * SummaryOut
         * @description Numbers of items, by reason and age.
         */
        SummaryOut: {
            /** Reasons */
            reasons: components["schemas"]["WaitingOut"][];
            /** Waiting */
            waiting: number;
        };
        /**
         * TenantTypeItem
         * @description A memory of a type of your own.
         * @example {
         *       "payload": {
         *         "customer": "Acme",
         *         "number": 4711
         *       },
         *       "type": "ticket",
         *       "user_id": "ana"
         *     }
         */
        TenantTypeItem: {
            /**
             * Agent Id
             * @description Your id of the agent: what is stored is that agent's, what is asked or listed is what it may see.
             */
            agent_id?: string | null;
            /** @description The category; by default the type's. */
            category?: components["schemas"]["Category"] | null;
            /**
             * Content
             * @description The sentence to remember, instead of one made from the fields.
             */
            content?: string | null;
            /**
             * Context
             * @description The text just before it: searched, never shown.
             */
            context?: string | null;
            /**
             * Ends
             * @description This is no longer so: nothing is stored, and what is held so ends, `valid_until` saying when (by default, when it is stated; what ends later holds until then). Answered with `ended`, or why nothing ended. For types that hold values.
             * @default false
             */
            ends?: boolean;
            /** Evidence */
            evidence?: components["schemas"]["EvidenceIn"][];
            /**
             * Evidence Turn Id
             * @description Short for evidence with just a turn_id.
             */
            evidence_turn_id?: string | null;
            /**
             * Extractor Confidence
             * @description Confidence of the extraction.
             */
            extractor_confidence?: number | null;
            /**
             * Importance
             * @description The importance, from 0 to 1, independent of confidence; by default the type's.
             */
            importance?: number | null;
            /**
             * Metadata
             * @description Anything else; questions and lists can filter by it.
             */
            metadata?: {
                [key: string]: unknown;
            };
            /**
             * Occurred At
             * @description When it was stated; now by default. A later statement replaces an earlier.
             */
            occurred_at?: string | null;
            /**
             * Payload
             * @description The type's fields, by its schema (`GET /admin/types/{type_name}`).
             */
            payload: {
                [key: string]: unknown;
            };
            /**
             * Provenance
             * @description Your own record of the memory's origin.
             */
            provenance?: {
                [key: string]: unknown;
            };
            /** @description Who sees it: everyone of the tenant, one user, or one agent. By default, with `user_id` that user's, whichever agent it was, unless the type's own scope is the agent; with `agent_id` alone that agent's, unless the type's own scope is global; with neither, global. */
            scope?: components["schemas"]["ScopeKind"] | null;
            /**
             * Sequence Number
             * @description Its place in the session.
             */
            sequence_number?: number | null;
            /**
             * Session Id
             * @description Your id of the conversation.
             */
            session_id?: string | null;
            /**
             * Source Confidence
             * @description The source strength.
             */
            source_confidence?: number | null;
            /**
             * @description The speech act; only an assertion can become an active belief.
             * @default assertion
             */
            speech_act?: components["schemas"]["SpeechAct"];
            /**
             * Timezone
             * @description Where times without an offset are read.
             */
            timezone?: string | null;
            /**
             * Topic
             * @description A topic of your own choice, to filter by.
             */
            topic?: string | null;
            /**
             * Ttl Seconds
             * @description Instead of valid_until: how long it is true, in seconds from valid_from, or else from when it was stated.
             */
            ttl_seconds?: number | null;
            /**
             * Type
             * @description The memory's type, such as `fact`.
             * @example ticket
             */
            type: string;
            /**
             * User Id
             * @description Your id of the user: what is stored is that user's, what is asked or listed is what they may see.
             */
            user_id?: string | null;
            /**
             * Valid From
             * @description Since when it is true.
             */
            valid_from?: string | null;
            /**
             * Valid Until
             * @description Until when it is true. What repeats a memory, and was not stated before it, moves its end; without one it leaves it as it is.
             */
            valid_until?: string | null;
        };
        /**
         * TenantTypeMemory
         * @description A memory of a type of your own.
         */
        TenantTypeMemory: TenantTypeMemory;
        /**
         * TenantTypeWrite
         * @description A memory of a type of your own.
         * @example {
         *       "payload": {
         *         "customer": "Acme",
         *         "number": 4711
         *       },
         *       "user_id": "ana"
         *     }
         */
        TenantTypeWrite: {
            /**
             * Agent Id
             * @description Your id of the agent: what is stored is that agent's, what is asked or listed is what it may see.
             */
            agent_id?: string | null;
            /** @description The category; by default the type's. */
            category?: components["schemas"]["Category"] | null;
            /**
             * Content
             * @description The sentence to remember, instead of one made from the fields.
             */
            content?: string | null;
            /**
             * Context
             * @description The text just before it: searched, never shown.
             */
            context?: string | null;
            /**
             * Ends
             * @description This is no longer so: nothing is stored, and what is held so ends, `valid_until` saying when (by default, when it is stated; what ends later holds until then). Answered with `ended`, or why nothing ended. For types that hold values.
             * @default false
             */
            ends?: boolean;
            /** Evidence */
            evidence?: components["schemas"]["EvidenceIn"][];
            /**
             * Evidence Turn Id
             * @description Short for evidence with just a turn_id.
             */
            evidence_turn_id?: string | null;
            /**
             * Extractor Confidence
             * @description Confidence of the extraction.
             */
            extractor_confidence?: number | null;
            /**
             * Importance
             * @description The importance, from 0 to 1, independent of confidence; by default the type's.
             */
            importance?: number | null;
            /**
             * Metadata
             * @description Anything else; questions and lists can filter by it.
             */
            metadata?: {
                [key: string]: unknown;
            };
            /**
             * Occurred At
             * @description When it was stated; now by default. A later statement replaces an earlier.
             */
            occurred_at?: string | null;
            /**
             * Payload
             * @description The type's fields, by its schema (`GET /admin/types/{type_name}`).
             */
            payload: {
                [key: string]: unknown;
            };
            /**
             * Provenance
             * @description Your own record of the memory's origin.
             */
            provenance?: {
                [key: string]: unknown;
            };
            /** @description Who sees it: everyone of the tenant, one user, or one agent. By default, with `user_id` that user's, whichever agent it was, unless the type's own scope is the agent; with `agent_id` alone that agent's, unless the type's own scope is global; with neither, global. */
            scope?: components["schemas"]["ScopeKind"] | null;
            /**
             * Sequence Number
             * @description Its place in the session.
             */
            sequence_number?: number | null;
            /**
             * Session Id
             * @description Your id of the conversation.
             */
            session_id?: string | null;
            /**
             * Source Confidence
             * @description The source strength.
             */
            source_confidence?: number | null;
            /**
             * @description The speech act; only an assertion can become an active belief.
             * @default assertion
             */
            speech_act?: components["schemas"]["SpeechAct"];
            /**
             * Timezone
             * @description Where times without an offset are read.
             */
            timezone?: string | null;
            /**
             * Topic
             * @description A topic of your own choice, to filter by.
             */
            topic?: string | null;
            /**
             * Ttl Seconds
             * @description Instead of valid_until: how long it is true, in seconds from valid_from, or else from when it was stated.
             */
            ttl_seconds?: number | null;
            /**
             * Type
             * @description May be left out: the route says it.
             */
            type?: string | null;
            /**
             * User Id
             * @description Your id of the user: what is stored is that user's, what is asked or listed is what they may see.
             */
            user_id?: string | null;
            /**
             * Valid From
             * @description Since when it is true.
             */
            valid_from?: string | null;
            /**
             * Valid Until
             * @description Until when it is true. What repeats a memory, and was not stated before it, moves its end; without one it leaves it as it is.
             */
            valid_until?: string | null;
        };
        /**
         * TimePrecision
         * @description The precision of a time.
         * @enum {string}
         */
        TimePrecision: "exact" | "day" | "week" | "month" | "approximate" | "unknown";
        /**
         * TransientStateItem
         * @description A condition that will pass within days yet matters until then; never a mood of the moment.
         * @example {
         *       "kind": "mood",
         *       "state": "feeling stressed about the deadline",
         *       "subject": "user",
         *       "type": "transient_state",
         *       "user_id": "ana"
         *     }
         */
        TransientStateItem: {
            /**
             * Agent Id
             * @description Your id of the agent: what is stored is that agent's, what is asked or listed is what it may see.
             */
            agent_id?: string | null;
            /** @description The category; by default the type's. */
            category?: components["schemas"]["Category"] | null;
            /**
             * Content
             * @description The sentence to remember, instead of one made from the fields.
             */
            content?: string | null;
            /**
             * Context
             * @description The text just before it: searched, never shown.
             */
            context?: string | null;
            /**
             * Ends
             * @description This is no longer so: nothing is stored, and what is held so ends, `valid_until` saying when (by default, when it is stated; what ends later holds until then). Answered with `ended`, or why nothing ended. For types that hold values.
             * @default false
             */
            ends?: boolean;
            /** Evidence */
            evidence?: components["schemas"]["EvidenceIn"][];
            /**
             * Evidence Turn Id
             * @description Short for evidence with just a turn_id.
             */
            evidence_turn_id?: string | null;
            /**
             * Extractor Confidence
             * @description Confidence of the extraction.
             */
            extractor_confidence?: number | null;
            /**
             * Importance
             * @description The importance, from 0 to 1, independent of confidence; by default the type's.
             */
            importance?: number | null;
            /**
             * Kind
             * @description What kind of state; the latest of a kind replaces the one before.
             * @default state
             * @example mood
             * @example whereabouts
             */
            kind?: string;
            /**
             * Metadata
             * @description Anything else; questions and lists can filter by it.
             */
            metadata?: {
                [key: string]: unknown;
            };
            /**
             * Occurred At
             * @description When it was stated; now by default. A later statement replaces an earlier.
             */
            occurred_at?: string | null;
            /**
             * Provenance
             * @description Your own record of the memory's origin.
             */
            provenance?: {
                [key: string]: unknown;
            };
            /** @description Who sees it: everyone of the tenant, one user, or one agent. By default, with `user_id` that user's, whichever agent it was, unless the type's own scope is the agent; with `agent_id` alone that agent's, unless the type's own scope is global; with neither, global. */
            scope?: components["schemas"]["ScopeKind"] | null;
            /**
             * Sequence Number
             * @description Its place in the session.
             */
            sequence_number?: number | null;
            /**
             * Session Id
             * @description Your id of the conversation.
             */
            session_id?: string | null;
            /**
             * Source Confidence
             * @description The source strength.
             */
            source_confidence?: number | null;
            /**
             * @description The speech act; only an assertion can become an active belief.
             * @default assertion
             */
            speech_act?: components["schemas"]["SpeechAct"];
            /**
             * State
             * @description The state, as it follows `is`.
             * @example feeling stressed about the deadline
             */
            state: string;
            /**
             * Subject
             * @description Who is in this state.
             * @default user
             */
            subject?: string;
            /**
             * Timezone
             * @description Where times without an offset are read.
             */
            timezone?: string | null;
            /**
             * Topic
             * @description A topic of your own choice, to filter by.
             */
            topic?: string | null;
            /**
             * Ttl Seconds
             * @description Instead of valid_until: how long it is true, in seconds from valid_from, or else from when it was stated.
             */
            ttl_seconds?: number | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "transient_state";
            /**
             * User Id
             * @description Your id of the user: what is stored is that user's, what is asked or listed is what they may see.
             */
            user_id?: string | null;
            /**
             * Valid From
             * @description Since when it is true.
             */
            valid_from?: string | null;
            /**
             * Valid Until
             * @description Until when it is true. What repeats a memory, and was not stated before it, moves its end; without one it leaves it as it is.
             */
            valid_until?: string | null;
        };
        /**
         * TransientStateMemory
         * @description A condition that will pass within days yet matters until then; never a mood of the moment.
         */
        TransientStateMemory: {
            /**
             * Access Count
             * @description Uses that count: what `not_useful` took back is not among them.
             */
            access_count: number;
            /** Agent Id */
            agent_id: string | null;
            category: components["schemas"]["Category"];
            /** Confidence */
            confidence: number;
            confidence_parts: components["schemas"]["ConfidencePartsOut"];
            /** Content */
            content: string;
            /** Contested */
            contested: boolean;
            /**
             * Distinct Sessions
             * @description Sessions it was used in, as far as they are kept (16).
             */
            distinct_sessions: number;
            /** Evidence */
            evidence: components["schemas"]["EvidenceOut"][];
            /** Freshness */
            freshness: number;
            /**
             * Id
             * @example mem_0198c5a2f0a87b3c9d2e4f6a8b0c1d2e
             */
            id: string;
            /** Importance */
            importance: number;
            /**
             * Kind
             * @description What kind of state; the latest of a kind replaces the one before.
             * @default state
             * @example mood
             * @example whereabouts
             */
            kind?: string;
            /** Last Accessed At */
            last_accessed_at: string | null;
            /** Links */
            links: components["schemas"]["LinkOut"][];
            /** Metadata */
            metadata: {
                [key: string]: unknown;
            };
            /** Needs Review */
            needs_review: boolean;
            /** Not Useful Count */
            not_useful_count: number;
            /**
             * Occurred At
             * Format: date-time
             * @description When it was said, by the latest that said so.
             */
            occurred_at: string;
            /** Provenance */
            provenance: {
                [key: string]: unknown;
            };
            /**
             * Recorded At
             * Format: date-time
             */
            recorded_at: string;
            /** Retired At */
            retired_at: string | null;
            review_reason: components["schemas"]["ReviewReason"] | null;
            scope: components["schemas"]["ScopeKind"];
            /** Sequence Number */
            sequence_number: number | null;
            /** Session Id */
            session_id: string | null;
            /**
             * Slot
             * @description The key under which only one value can be true at a time.
             */
            slot: string | null;
            speech_act: components["schemas"]["SpeechAct"];
            /**
             * Stability
             * @description From 0 to 1: grows with uses that lie days apart.
             */
            stability: number;
            /**
             * State
             * @description The state, as it follows `is`.
             * @example feeling stressed about the deadline
             */
            state: string;
            status: components["schemas"]["MemoryStatus"];
            /**
             * Subject
             * @description Who is in this state.
             * @default user
             */
            subject?: string;
            /** Superseded By */
            superseded_by: string | null;
            /** Supersedes */
            supersedes: string | null;
            /** Topic */
            topic: string | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "transient_state";
            /** Useful Count */
            useful_count: number;
            /** User Id */
            user_id: string | null;
            /**
             * Valid From
             * Format: date-time
             */
            valid_from: string;
            /** Valid Until */
            valid_until: string | null;
            /** Wrong Count */
            wrong_count: number;
        };
        /**
         * TransientStateWrite
         * @description A condition that will pass within days yet matters until then; never a mood of the moment.
         * @example {
         *       "kind": "mood",
         *       "state": "feeling stressed about the deadline",
         *       "subject": "user",
         *       "user_id": "ana"
         *     }
         */
        TransientStateWrite: {
            /**
             * Agent Id
             * @description Your id of the agent: what is stored is that agent's, what is asked or listed is what it may see.
             */
            agent_id?: string | null;
            /** @description The category; by default the type's. */
            category?: components["schemas"]["Category"] | null;
            /**
             * Content
             * @description The sentence to remember, instead of one made from the fields.
             */
            content?: string | null;
            /**
             * Context
             * @description The text just before it: searched, never shown.
             */
            context?: string | null;
            /**
             * Ends
             * @description This is no longer so: nothing is stored, and what is held so ends, `valid_until` saying when (by default, when it is stated; what ends later holds until then). Answered with `ended`, or why nothing ended. For types that hold values.
             * @default false
             */
            ends?: boolean;
            /** Evidence */
            evidence?: components["schemas"]["EvidenceIn"][];
            /**
             * Evidence Turn Id
             * @description Short for evidence with just a turn_id.
             */
            evidence_turn_id?: string | null;
            /**
             * Extractor Confidence
             * @description Confidence of the extraction.
             */
            extractor_confidence?: number | null;
            /**
             * Importance
             * @description The importance, from 0 to 1, independent of confidence; by default the type's.
             */
            importance?: number | null;
            /**
             * Kind
             * @description What kind of state; the latest of a kind replaces the one before.
             * @default state
             * @example mood
             * @example whereabouts
             */
            kind?: string;
            /**
             * Metadata
             * @description Anything else; questions and lists can filter by it.
             */
            metadata?: {
                [key: string]: unknown;
            };
            /**
             * Occurred At
             * @description When it was stated; now by default. A later statement replaces an earlier.
             */
            occurred_at?: string | null;
            /**
             * Provenance
             * @description Your own record of the memory's origin.
             */
            provenance?: {
                [key: string]: unknown;
            };
            /** @description Who sees it: everyone of the tenant, one user, or one agent. By default, with `user_id` that user's, whichever agent it was, unless the type's own scope is the agent; with `agent_id` alone that agent's, unless the type's own scope is global; with neither, global. */
            scope?: components["schemas"]["ScopeKind"] | null;
            /**
             * Sequence Number
             * @description Its place in the session.
             */
            sequence_number?: number | null;
            /**
             * Session Id
             * @description Your id of the conversation.
             */
            session_id?: string | null;
            /**
             * Source Confidence
             * @description The source strength.
             */
            source_confidence?: number | null;
            /**
             * @description The speech act; only an assertion can become an active belief.
             * @default assertion
             */
            speech_act?: components["schemas"]["SpeechAct"];
            /**
             * State
             * @description The state, as it follows `is`.
             * @example feeling stressed about the deadline
             */
            state: string;
            /**
             * Subject
             * @description Who is in this state.
             * @default user
             */
            subject?: string;
            /**
             * Timezone
             * @description Where times without an offset are read.
             */
            timezone?: string | null;
            /**
             * Topic
             * @description A topic of your own choice, to filter by.
             */
            topic?: string | null;
            /**
             * Ttl Seconds
             * @description Instead of valid_until: how long it is true, in seconds from valid_from, or else from when it was stated.
             */
            ttl_seconds?: number | null;
            /**
             * Type
             * @description May be left out: the route says it.
             */
            type?: "transient_state" | null;
            /**
             * User Id
             * @description Your id of the user: what is stored is that user's, what is asked or listed is what they may see.
             */
            user_id?: string | null;
            /**
             * Valid From
             * @description Since when it is true.
             */
            valid_from?: string | null;
            /**
             * Valid Until
             * @description Until when it is true. What repeats a memory, and was not stated before it, moves its end; without one it leaves it as it is.
             */
            valid_until?: string | null;
        };
        /**
         * TurnExcerptOut
         * @description A turn.
         */
        TurnExcerptOut: {
            /** Content */
            content: string;
            /**
             * Occurred At
             * Format: date-time
             */
            occurred_at: string;
            /** Role */
            role: string;
            /** Speaker */
            speaker: string | null;
            /** Turn Id */
            turn_id: string;
        };
        /**
         * TurnIn
         * @description One message of a conversation; the names that chat libraries have for its fields are read, too.
         */
        TurnIn: {
            /** @description How all that it yields fades; by default as the types do, and what it says. */
            category?: components["schemas"]["Category"] | null;
            /**
             * Content
             * @example I moved from Boston to Berlin last month to work at Volkswagen.
             */
            content: string;
            /**
             * Importance
             * @description Of all that it yields.
             */
            importance?: number | null;
            /**
             * Metadata
             * @description Of all that it yields, too.
             */
            metadata?: {
                [key: string]: unknown;
            };
            /**
             * Occurred At
             * @description Time of the turn; by default now, in the order of the request.
             */
            occurred_at?: string | null;
            /**
             * @description The author's role, which caps the source strength.
             * @default user
             */
            role?: components["schemas"]["Role"];
            /**
             * Sequence Number
             * @description Its place in the session.
             */
            sequence_number?: number | null;
            /**
             * Session Id
             * @description Your id of the conversation.
             */
            session_id?: string | null;
            /**
             * Speaker
             * @description Who said it, where a conversation has names: who `I` is.
             */
            speaker?: string | null;
        };
        /**
         * TurnOut
         * @description A turn and its report; `id` is null in a dry run.
         */
        TurnOut: {
            /** Agent Id */
            agent_id: string | null;
            /** Candidates */
            candidates: components["schemas"]["CandidateOut"][];
            category: components["schemas"]["Category"] | null;
            /** Content */
            content: string;
            /** Id */
            id: string | null;
            /** Importance */
            importance: number | null;
            /** Metadata */
            metadata: {
                [key: string]: unknown;
            };
            /**
             * Occurred At
             * Format: date-time
             */
            occurred_at: string;
            /** Processed At */
            processed_at: string | null;
            /** Reason */
            reason: string | null;
            /** Recorded At */
            recorded_at: string | null;
            role: components["schemas"]["Role"];
            scope: components["schemas"]["ScopeKind"];
            /** Sequence Number */
            sequence_number: number | null;
            /** Session Id */
            session_id: string | null;
            /** Speaker */
            speaker: string | null;
            status: components["schemas"]["TurnStatus"];
            /** Timezone */
            timezone: string;
            /** Trace */
            trace: components["schemas"]["StageOut"][];
            /** User Id */
            user_id: string | null;
        };
        /**
         * TurnPage
         * @description Some turns.
         */
        TurnPage: {
            /** Next Cursor */
            next_cursor: string | null;
            /** Turns */
            turns: components["schemas"]["TurnOut"][];
        };
        /**
         * TurnStatus
         * @description The status of a turn; received turns wait to be processed.
         * @enum {string}
         */
        TurnStatus: "received" | "processed" | "skipped" | "extraction_failed";
        /**
         * TurnsBody
         * @description Turns of one user or agent: a list of turns or of chat messages, or the fields of a single turn.
         * @example {
         *       "session_id": "monday",
         *       "timezone": "Europe/Berlin",
         *       "turns": [
         *         {
         *           "content": "I moved from Boston to Berlin last month to work at Volkswagen.",
         *           "role": "user"
         *         },
         *         {
         *           "content": "How do you like it there?",
         *           "role": "assistant"
         *         }
         *       ],
         *       "user_id": "bo"
         *     }
         */
        TurnsBody: {
            /**
             * Agent Id
             * @description Your id of the agent: what is stored is that agent's, what is asked or listed is what it may see.
             */
            agent_id?: string | null;
            /** @description Of every turn that has no other. */
            category?: components["schemas"]["Category"] | null;
            /** Content */
            content?: string | null;
            /** @description What to remember of these turns and what never, beside the tenant's own instructions (`PUT /admin/policy`): both stand, and what either excludes is never remembered. */
            extraction?: components["schemas"]["ExtractionInstructions"] | null;
            /**
             * Importance
             * @description Of every turn that has no other.
             */
            importance?: number | null;
            /**
             * Messages
             * @description Instead of `turns`: messages as chat libraries have them. Text parts are joined; `timestamp`, `created_at`, `sent_at`, `ts`, `date` or `time` is the time, `name` the speaker. System prompts, messages without text, and fields that are not read are listed in `ignored`.
             */
            messages?: components["schemas"]["ChatMessageIn"][] | null;
            /**
             * Metadata
             * @description Of every turn, under what a turn has itself.
             */
            metadata?: {
                [key: string]: unknown;
            } | null;
            /**
             * Occurred At
             * @description Of every turn that has no other.
             */
            occurred_at?: string | null;
            /** @description Of every turn that has no other. */
            role?: components["schemas"]["Role"] | null;
            /** @description Where memories go; by default the user's scope, else the agent's, else global. With `agent`, what is said to an agent stays with that agent, with that user if one is named. */
            scope?: components["schemas"]["ScopeKind"] | null;
            /**
             * Sequence Number
             * @description Its place in the session.
             */
            sequence_number?: number | null;
            /**
             * Session Id
             * @description The conversation; of every turn that names no other.
             */
            session_id?: string | null;
            /**
             * Speaker
             * @description Of every turn that has no other.
             */
            speaker?: string | null;
            /**
             * Timezone
             * @description Where "yesterday" is meant; by default the offset of `occurred_at`, else UTC.
             */
            timezone?: string | null;
            /** Turns */
            turns?: components["schemas"]["TurnIn"][] | null;
            /**
             * User Id
             * @description Your id of the user: what is stored is that user's, what is asked or listed is what they may see.
             */
            user_id?: string | null;
        };
        /**
         * TurnsResult
         * @description Turns with their reports; `job_id` is the job that processes those that wait.
         */
        TurnsResult: {
            /** Degraded */
            degraded: string[];
            /** @description In a dry run, the instructions that apply; null without any. */
            extraction: components["schemas"]["AppliedInstructionsOut"] | null;
            /** Ignored */
            ignored: components["schemas"]["IgnoredOut"][];
            /** Job Id */
            job_id: string | null;
            /** Turns */
            turns: components["schemas"]["TurnOut"][];
        };
        /**
         * UndoBody
         * @description An undoing of a decision.
         * @example {
         *       "reason": "the contract was another person's"
         *     }
         */
        UndoBody: {
            /**
             * Reason
             * @description Kept in the audit log.
             */
            reason?: string | null;
            /**
             * Reviewer
             * @description The person, where several share a key; by default the key's name.
             */
            reviewer?: string | null;
        };
        /**
         * UserOut
         * @description A user.
         */
        UserOut: {
            /** Active */
            active: number;
            /**
             * Last Active At
             * @description Time of the last write of a memory, an import included, or of the last turn.
             */
            last_active_at: string | null;
            /**
             * Memories
             * @description Of every status.
             */
            memories: number;
            /** Turns */
            turns: number;
            /** User Id */
            user_id: string;
            /**
             * Waiting
             * @description Memories that wait for a reviewer.
             */
            waiting: number;
        };
        /**
         * UserPage
         * @description Some users, in the order of their ids.
         */
        UserPage: {
            /** Next Cursor */
            next_cursor: string | null;
            /** Users */
            users: components["schemas"]["UserOut"][];
        };
        /**
         * WaitingOut
         * @description Numbers of items of one reason.
         */
        WaitingOut: {
            ages: components["schemas"]["AgesOut"];
            /**
             * Oldest
             * Format: date-time
             */
            oldest: string;
            reason: components["schemas"]["ReviewReason"];
            /** Waiting */
            waiting: number;
        };
        /**
         * WhoAmIOut
         * @description The key that the request carries, and its tenant.
         */
        WhoAmIOut: {
            /**
             * Agent Id
             * @description The agent that the key is bound to.
             */
            agent_id: string | null;
            /** Key Id */
            key_id: string | null;
            /** Key Name */
            key_name: string;
            /** Roles */
            roles: string[];
            /** Tenant */
            tenant: string;
            /** Tenant Id */
            tenant_id: string;
            /**
             * User Id
             * @description The user that the key is bound to.
             */
            user_id: string | null;
        };
        /**
         * WriteDecision
         * @description The decision of a write, in the words of the API.
         * @enum {string}
         */
        WriteDecision: "added" | "merged" | "superseded" | "contradicted" | "ended" | "review" | "rejected";
        /**
         * WriteResult
         * @description The decision of a write, and its reason.
         */
        WriteResult: {
            /** Affected */
            affected: components["schemas"]["AffectedOut"][];
            decision: components["schemas"]["WriteDecision"];
            memory: components["schemas"]["Memory"] | null;
            /** Reason */
            reason: string;
        };
        /**
         * TenantTypeMemory
         * @description A memory of a type of your own.
         */
        TenantTypeMemoryFields: {
            /**
             * Access Count
             * @description Uses that count: what `not_useful` took back is not among them.
             */
            access_count: number;
            /** Agent Id */
            agent_id: string | null;
            category: components["schemas"]["Category"];
            /** Confidence */
            confidence: number;
            confidence_parts: components["schemas"]["ConfidencePartsOut"];
            /** Content */
            content: string;
            /** Contested */
            contested: boolean;
            /**
             * Distinct Sessions
             * @description Sessions it was used in, as far as they are kept (16).
             */
            distinct_sessions: number;
            /** Evidence */
            evidence: components["schemas"]["EvidenceOut"][];
            /** Freshness */
            freshness: number;
            /**
             * Id
             * @example mem_0198c5a2f0a87b3c9d2e4f6a8b0c1d2e
             */
            id: string;
            /** Importance */
            importance: number;
            /** Last Accessed At */
            last_accessed_at: string | null;
            /** Links */
            links: components["schemas"]["LinkOut"][];
            /** Metadata */
            metadata: {
                [key: string]: unknown;
            };
            /** Needs Review */
            needs_review: boolean;
            /** Not Useful Count */
            not_useful_count: number;
            /**
             * Occurred At
             * Format: date-time
             * @description When it was said, by the latest that said so.
             */
            occurred_at: string;
            /**
             * Payload
             * @description The type's fields, by the schema of that version.
             */
            payload: {
                [key: string]: unknown;
            };
            /** Provenance */
            provenance: {
                [key: string]: unknown;
            };
            /**
             * Recorded At
             * Format: date-time
             */
            recorded_at: string;
            /** Retired At */
            retired_at: string | null;
            review_reason: components["schemas"]["ReviewReason"] | null;
            scope: components["schemas"]["ScopeKind"];
            /** Sequence Number */
            sequence_number: number | null;
            /** Session Id */
            session_id: string | null;
            /**
             * Slot
             * @description The key under which only one value can be true at a time.
             */
            slot: string | null;
            speech_act: components["schemas"]["SpeechAct"];
            /**
             * Stability
             * @description From 0 to 1: grows with uses that lie days apart.
             */
            stability: number;
            status: components["schemas"]["MemoryStatus"];
            /** Subject */
            subject: string | null;
            /** Superseded By */
            superseded_by: string | null;
            /** Supersedes */
            supersedes: string | null;
            /** Topic */
            topic: string | null;
            /**
             * Type
             * @example ticket
             */
            type: string;
            /**
             * Type Version
             * @description The version of the type's definition that it was written with.
             */
            type_version: number;
            /** Useful Count */
            useful_count: number;
            /** User Id */
            user_id: string | null;
            /**
             * Valid From
             * Format: date-time
             */
            valid_from: string;
            /** Valid Until */
            valid_until: string | null;
            /** Wrong Count */
            wrong_count: number;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    list_reviews: {
        parameters: {
            query?: {
                /** @description Most items of a page. */
                limit?: number;
                /** @description `next_cursor` of the page before; the first page without it. Filters and sorting stay the same. */
                cursor?: string | null;
                /** @description Only items with one of these reasons. */
                reason?: components["schemas"]["ReviewReason"][];
                /** @description The memory's type, such as `fact`. */
                type?: string[];
                /** @description `pending` for what is not believed yet. */
                status?: components["schemas"]["MemoryStatus"][];
                /** @description Your id of the user: what is stored is that user's, what is asked or listed is what they may see. */
                user_id?: string | null;
                /** @description Your id of the agent: what is stored is that agent's, what is asked or listed is what it may see. */
                agent_id?: string | null;
                /** @description Only what came up then or later. */
                since?: string | null;
                /** @description Only what came up before. */
                until?: string | null;
                /** @description Only what has waited so many seconds. */
                min_age?: number | null;
                /** @description The order. */
                sort?: "oldest" | "newest";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReviewPage"];
                };
            };
        };
    };
    get_review_summary: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SummaryOut"];
                };
            };
        };
    };
    get_review: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description An item's id: its memory's, as a review. */
                review_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReviewDetail"];
                };
            };
        };
    };
    decide_review: {
        parameters: {
            query?: never;
            header?: {
                /** @description Send a write again under the same key, and it is done once and answered the same for 24 hours. Another body under the same key is a conflict. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                /** @description An item's id: its memory's, as a review. */
                review_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DecideBody"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReviewOutcome"];
                };
            };
        };
    };
    undo_review: {
        parameters: {
            query?: never;
            header?: {
                /** @description Send a write again under the same key, and it is done once and answered the same for 24 hours. Another body under the same key is a conflict. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                /** @description An item's id: its memory's, as a review. */
                review_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UndoBody"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReviewUndoneOut"];
                };
            };
        };
    };
    list_agents: {
        parameters: {
            query?: {
                /** @description Most items of a page. */
                limit?: number;
                /** @description `next_cursor` of the page before; the first page without it. Filters and sorting stay the same. */
                cursor?: string | null;
                /** @description Your id of the user: what is stored is that user's, what is asked or listed is what they may see. */
                user_id?: string | null;
                /** @description Your id of the agent: what is stored is that agent's, what is asked or listed is what it may see. */
                agent_id?: string | null;
                /** @description Of these, only what is in scopes of this kind. */
                scope?: components["schemas"]["ScopeKind"] | null;
                /** @description List what is of every user and agent; takes a key with the role `admin`. Without it, and without a user or an agent, only what is in the global scope is listed. */
                all?: boolean;
                /** @description Only what is stored for this user, in whatever scope: the user's own, and those of agents with that user. */
                owner?: string | null;
                /** @description Only ids that hold this text, whatever the case. */
                q?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentPage"];
                };
            };
        };
    };
    answer: {
        parameters: {
            query?: never;
            header?: {
                /** @description The header of a write's answer, to see that write where a replica answers questions. */
                "Memory-Position"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AnswerBody"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AnswerOut"];
                    "text/event-stream": string;
                };
            };
        };
    };
    list_entities: {
        parameters: {
            query?: {
                /** @description Most items of a page. */
                limit?: number;
                /** @description `next_cursor` of the page before; the first page without it. Filters and sorting stay the same. */
                cursor?: string | null;
                /** @description What was true then, as far as it is known: only memories that held at this time, whether or not they still do. Replaced ones held until what replaced them began. */
                as_of?: string | null;
                /** @description What was believed then: the answer this request had at that time. Nothing recorded, replaced, merged or changed later shows. What was erased since is gone from the past too. */
                known_at?: string | null;
                /** @description Your id of the user: what is stored is that user's, what is asked or listed is what they may see. */
                user_id?: string | null;
                /** @description Your id of the agent: what is stored is that agent's, what is asked or listed is what it may see. */
                agent_id?: string | null;
                /** @description Of these, only what is in scopes of this kind. */
                scope?: components["schemas"]["ScopeKind"] | null;
                /** @description List what is of every user and agent; takes a key with the role `admin`. Without it, and without a user or an agent, only what is in the global scope is listed. */
                all?: boolean;
                /** @description Only what is stored for this user, in whatever scope: the user's own, and those of agents with that user. */
                owner?: string | null;
                entity_type?: string | null;
                /** @description Any of its names, whatever the case. */
                name?: string | null;
                /** @description A word of one of its names begins with this. */
                prefix?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EntityPage"];
                };
            };
        };
    };
    get_entity: {
        parameters: {
            query?: {
                /** @description What was true then, as far as it is known: only memories that held at this time, whether or not they still do. Replaced ones held until what replaced them began. */
                as_of?: string | null;
                /** @description What was believed then: the answer this request had at that time. Nothing recorded, replaced, merged or changed later shows. What was erased since is gone from the past too. */
                known_at?: string | null;
            };
            header?: never;
            path: {
                /** @description An entity's id. */
                entity_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EntityDetailOut"];
                };
            };
        };
    };
    get_entity_graph: {
        parameters: {
            query?: {
                /** @description What was true then, as far as it is known: only memories that held at this time, whether or not they still do. Replaced ones held until what replaced them began. */
                as_of?: string | null;
                /** @description What was believed then: the answer this request had at that time. Nothing recorded, replaced, merged or changed later shows. What was erased since is gone from the past too. */
                known_at?: string | null;
                /** @description Steps to go. */
                depth?: number;
            };
            header?: never;
            path: {
                /** @description An entity's id. */
                entity_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GraphOut"];
                };
            };
        };
    };
    list_jobs: {
        parameters: {
            query?: {
                /** @description Most items of a page. */
                limit?: number;
                /** @description `next_cursor` of the page before; the first page without it. Filters and sorting stay the same. */
                cursor?: string | null;
                /** @description Your id of the user: what is stored is that user's, what is asked or listed is what they may see. */
                user_id?: string | null;
                /** @description Your id of the agent: what is stored is that agent's, what is asked or listed is what it may see. */
                agent_id?: string | null;
                /** @description Of these, only what is in scopes of this kind. */
                scope?: components["schemas"]["ScopeKind"] | null;
                /** @description List what is of every user and agent; takes a key with the role `admin`. Without it, and without a user or an agent, only what is in the global scope is listed. */
                all?: boolean;
                /** @description Only what is stored for this user, in whatever scope: the user's own, and those of agents with that user. */
                owner?: string | null;
                /** @description `failed` for what needs looking at. */
                status?: components["schemas"]["JobStatus"] | null;
                kind?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["JobPage"];
                };
            };
        };
    };
    get_job: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description A job's id. */
                job_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["JobOut"];
                };
            };
        };
    };
    list_memories: {
        parameters: {
            query?: {
                /** @description Most items of a page. */
                limit?: number;
                /** @description `next_cursor` of the page before; the first page without it. Filters and sorting stay the same. */
                cursor?: string | null;
                /** @description What was true then, as far as it is known: only memories that held at this time, whether or not they still do. Replaced ones held until what replaced them began. */
                as_of?: string | null;
                /** @description What was believed then: the answer this request had at that time. Nothing recorded, replaced, merged or changed later shows. What was erased since is gone from the past too. */
                known_at?: string | null;
                /** @description Your id of the user: what is stored is that user's, what is asked or listed is what they may see. */
                user_id?: string | null;
                /** @description Your id of the agent: what is stored is that agent's, what is asked or listed is what it may see. */
                agent_id?: string | null;
                /** @description Of these, only what is in scopes of this kind. */
                scope?: components["schemas"]["ScopeKind"] | null;
                /** @description List what is of every user and agent; takes a key with the role `admin`. Without it, and without a user or an agent, only what is in the global scope is listed. */
                all?: boolean;
                /** @description Only what is stored for this user, in whatever scope: the user's own, and those of agents with that user. */
                owner?: string | null;
                /** @description Only these types; repeat it for several. */
                type?: string[];
                /** @description Only these statuses; repeat it for several. By default all but `pending`: history too. */
                status?: components["schemas"]["MemoryStatus"][];
                /** @description Only what is about this, as memories show it in `subject`. */
                subject?: string | null;
                /** @description Only what is filed under this, in any letter case. */
                topic?: string | null;
                /** @description Your id of the conversation. */
                session_id?: string | null;
                /** @description Only what matters at least this much. */
                min_importance?: number | null;
                /** @description Only what is trusted at least this much. */
                min_confidence?: number | null;
                /** @description Only memories whose text holds each of these words. */
                q?: string | null;
                /** @description Only memories that name this entity, by its `ent_` id; of every type. */
                entity?: string | null;
                /** @description Only memories with this predicate. */
                predicate?: string | null;
                /** @description Only memories whose metadata contain this JSON object. */
                metadata?: string | null;
                /** @description Only memories with all of these in the list `tags` of their metadata. */
                tags?: string[];
                /** @description Only what was recorded then or later. */
                recorded_since?: string | null;
                /** @description Only what was recorded before. */
                recorded_until?: string | null;
                /** @description Only what waits for a reviewer, or only what does not. */
                needs_review?: boolean | null;
                /** @description `now` leaves out what is active and not true now: what is over, or has not begun. With `known_at`, then instead of now; `as_of` says itself when. */
                validity?: "now" | "any";
                /** @description A name alone sorts from low to high, a minus before it from high to low: `-importance` puts what matters most first, `importance` what matters least, `-recorded_at` the newest. */
                sort?: components["schemas"]["MemorySort"];
                /** @description Only memories of type document with this document id. */
                document_id?: string | null;
                /** @description Only memories of type medication with this drug class. */
                drug_class?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemoryPage"];
                };
            };
        };
    };
    write_batch: {
        parameters: {
            query?: never;
            header?: {
                /** @description Send a write again under the same key, and it is done once and answered the same for 24 hours. Another body under the same key is a conflict. */
                "Idempotency-Key"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BatchWrite"];
            };
        };
        responses: {
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BatchResult"];
                };
            };
        };
    };
    write_constraint: {
        parameters: {
            query?: {
                /** @description Decide, and store nothing; the id of the answer's memory is of nothing, then. */
                dry_run?: boolean;
            };
            header?: {
                /** @description Send a write again under the same key, and it is done once and answered the same for 24 hours. Another body under the same key is a conflict. */
                "Idempotency-Key"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ConstraintWrite"];
            };
        };
        responses: {
            /** @description The decision of a dry run. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WriteResult"];
                };
            };
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WriteResult"];
                };
            };
        };
    };
    write_control: {
        parameters: {
            query?: {
                /** @description Decide, and store nothing; the id of the answer's memory is of nothing, then. */
                dry_run?: boolean;
            };
            header?: {
                /** @description Send a write again under the same key, and it is done once and answered the same for 24 hours. Another body under the same key is a conflict. */
                "Idempotency-Key"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ControlWrite"];
            };
        };
        responses: {
            /** @description The decision of a dry run. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WriteResult"];
                };
            };
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WriteResult"];
                };
            };
        };
    };
    write_decision: {
        parameters: {
            query?: {
                /** @description Decide, and store nothing; the id of the answer's memory is of nothing, then. */
                dry_run?: boolean;
            };
            header?: {
                /** @description Send a write again under the same key, and it is done once and answered the same for 24 hours. Another body under the same key is a conflict. */
                "Idempotency-Key"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DecisionWrite"];
            };
        };
        responses: {
            /** @description The decision of a dry run. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WriteResult"];
                };
            };
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WriteResult"];
                };
            };
        };
    };
    write_document: {
        parameters: {
            query?: {
                /** @description Decide, and store nothing; the id of the answer's memory is of nothing, then. */
                dry_run?: boolean;
            };
            header?: {
                /** @description Send a write again under the same key, and it is done once and answered the same for 24 hours. Another body under the same key is a conflict. */
                "Idempotency-Key"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DocumentWrite"];
            };
        };
        responses: {
            /** @description The decision of a dry run. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WriteResult"];
                };
            };
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WriteResult"];
                };
            };
        };
    };
    write_entity: {
        parameters: {
            query?: {
                /** @description Decide, and store nothing; the id of the answer's memory is of nothing, then. */
                dry_run?: boolean;
            };
            header?: {
                /** @description Send a write again under the same key, and it is done once and answered the same for 24 hours. Another body under the same key is a conflict. */
                "Idempotency-Key"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["EntityWrite"];
            };
        };
        responses: {
            /** @description The decision of a dry run. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WriteResult"];
                };
            };
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WriteResult"];
                };
            };
        };
    };
    write_episodic: {
        parameters: {
            query?: {
                /** @description Decide, and store nothing; the id of the answer's memory is of nothing, then. */
                dry_run?: boolean;
            };
            header?: {
                /** @description Send a write again under the same key, and it is done once and answered the same for 24 hours. Another body under the same key is a conflict. */
                "Idempotency-Key"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["EpisodicWrite"];
            };
        };
        responses: {
            /** @description The decision of a dry run. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WriteResult"];
                };
            };
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WriteResult"];
                };
            };
        };
    };
    list_session: {
        parameters: {
            query?: {
                /** @description Most items of a page. */
                limit?: number;
                /** @description `next_cursor` of the page before; the first page without it. Filters and sorting stay the same. */
                cursor?: string | null;
                /** @description What was true then, as far as it is known: only memories that held at this time, whether or not they still do. Replaced ones held until what replaced them began. */
                as_of?: string | null;
                /** @description What was believed then: the answer this request had at that time. Nothing recorded, replaced, merged or changed later shows. What was erased since is gone from the past too. */
                known_at?: string | null;
                /** @description Your id of the user: what is stored is that user's, what is asked or listed is what they may see. */
                user_id?: string | null;
                /** @description Your id of the agent: what is stored is that agent's, what is asked or listed is what it may see. */
                agent_id?: string | null;
                /** @description Of these, only what is in scopes of this kind. */
                scope?: components["schemas"]["ScopeKind"] | null;
                /** @description List what is of every user and agent; takes a key with the role `admin`. Without it, and without a user or an agent, only what is in the global scope is listed. */
                all?: boolean;
                /** @description By default `active`; with `as_of` also what has been replaced or expired since. */
                status?: components["schemas"]["MemoryStatus"][];
            };
            header?: never;
            path: {
                /** @description The session, as it was written. */
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemoryPage"];
                };
            };
        };
    };
    write_event: {
        parameters: {
            query?: {
                /** @description Decide, and store nothing; the id of the answer's memory is of nothing, then. */
                dry_run?: boolean;
            };
            header?: {
                /** @description Send a write again under the same key, and it is done once and answered the same for 24 hours. Another body under the same key is a conflict. */
                "Idempotency-Key"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["EventWrite"];
            };
        };
        responses: {
            /** @description The decision of a dry run. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WriteResult"];
                };
            };
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WriteResult"];
                };
            };
        };
    };
    write_fact: {
        parameters: {
            query?: {
                /** @description Decide, and store nothing; the id of the answer's memory is of nothing, then. */
                dry_run?: boolean;
            };
            header?: {
                /** @description Send a write again under the same key, and it is done once and answered the same for 24 hours. Another body under the same key is a conflict. */
                "Idempotency-Key"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FactWrite"];
            };
        };
        responses: {
            /** @description The decision of a dry run. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WriteResult"];
                };
            };
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WriteResult"];
                };
            };
        };
    };
    write_feature: {
        parameters: {
            query?: {
                /** @description Decide, and store nothing; the id of the answer's memory is of nothing, then. */
                dry_run?: boolean;
            };
            header?: {
                /** @description Send a write again under the same key, and it is done once and answered the same for 24 hours. Another body under the same key is a conflict. */
                "Idempotency-Key"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FeatureWrite"];
            };
        };
        responses: {
            /** @description The decision of a dry run. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WriteResult"];
                };
            };
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WriteResult"];
                };
            };
        };
    };
    write_medication: {
        parameters: {
            query?: {
                /** @description Decide, and store nothing; the id of the answer's memory is of nothing, then. */
                dry_run?: boolean;
            };
            header?: {
                /** @description Send a write again under the same key, and it is done once and answered the same for 24 hours. Another body under the same key is a conflict. */
                "Idempotency-Key"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MedicationWrite"];
            };
        };
        responses: {
            /** @description The decision of a dry run. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WriteResult"];
                };
            };
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WriteResult"];
                };
            };
        };
    };
    write_plan: {
        parameters: {
            query?: {
                /** @description Decide, and store nothing; the id of the answer's memory is of nothing, then. */
                dry_run?: boolean;
            };
            header?: {
                /** @description Send a write again under the same key, and it is done once and answered the same for 24 hours. Another body under the same key is a conflict. */
                "Idempotency-Key"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PlanWrite"];
            };
        };
        responses: {
            /** @description The decision of a dry run. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WriteResult"];
                };
            };
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WriteResult"];
                };
            };
        };
    };
    write_preference: {
        parameters: {
            query?: {
                /** @description Decide, and store nothing; the id of the answer's memory is of nothing, then. */
                dry_run?: boolean;
            };
            header?: {
                /** @description Send a write again under the same key, and it is done once and answered the same for 24 hours. Another body under the same key is a conflict. */
                "Idempotency-Key"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PreferenceWrite"];
            };
        };
        responses: {
            /** @description The decision of a dry run. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WriteResult"];
                };
            };
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WriteResult"];
                };
            };
        };
    };
    write_procedural: {
        parameters: {
            query?: {
                /** @description Decide, and store nothing; the id of the answer's memory is of nothing, then. */
                dry_run?: boolean;
            };
            header?: {
                /** @description Send a write again under the same key, and it is done once and answered the same for 24 hours. Another body under the same key is a conflict. */
                "Idempotency-Key"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ProceduralWrite"];
            };
        };
        responses: {
            /** @description The decision of a dry run. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WriteResult"];
                };
            };
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WriteResult"];
                };
            };
        };
    };
    write_progress: {
        parameters: {
            query?: {
                /** @description Decide, and store nothing; the id of the answer's memory is of nothing, then. */
                dry_run?: boolean;
            };
            header?: {
                /** @description Send a write again under the same key, and it is done once and answered the same for 24 hours. Another body under the same key is a conflict. */
                "Idempotency-Key"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ProgressWrite"];
            };
        };
        responses: {
            /** @description The decision of a dry run. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WriteResult"];
                };
            };
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WriteResult"];
                };
            };
        };
    };
    write_reflection: {
        parameters: {
            query?: {
                /** @description Decide, and store nothing; the id of the answer's memory is of nothing, then. */
                dry_run?: boolean;
            };
            header?: {
                /** @description Send a write again under the same key, and it is done once and answered the same for 24 hours. Another body under the same key is a conflict. */
                "Idempotency-Key"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ReflectionWrite"];
            };
        };
        responses: {
            /** @description The decision of a dry run. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WriteResult"];
                };
            };
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WriteResult"];
                };
            };
        };
    };
    write_relation: {
        parameters: {
            query?: {
                /** @description Decide, and store nothing; the id of the answer's memory is of nothing, then. */
                dry_run?: boolean;
            };
            header?: {
                /** @description Send a write again under the same key, and it is done once and answered the same for 24 hours. Another body under the same key is a conflict. */
                "Idempotency-Key"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RelationWrite"];
            };
        };
        responses: {
            /** @description The decision of a dry run. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WriteResult"];
                };
            };
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WriteResult"];
                };
            };
        };
    };
    write_semantic: {
        parameters: {
            query?: {
                /** @description Decide, and store nothing; the id of the answer's memory is of nothing, then. */
                dry_run?: boolean;
            };
            header?: {
                /** @description Send a write again under the same key, and it is done once and answered the same for 24 hours. Another body under the same key is a conflict. */
                "Idempotency-Key"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SemanticWrite"];
            };
        };
        responses: {
            /** @description The decision of a dry run. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WriteResult"];
                };
            };
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WriteResult"];
                };
            };
        };
    };
    write_standard: {
        parameters: {
            query?: {
                /** @description Decide, and store nothing; the id of the answer's memory is of nothing, then. */
                dry_run?: boolean;
            };
            header?: {
                /** @description Send a write again under the same key, and it is done once and answered the same for 24 hours. Another body under the same key is a conflict. */
                "Idempotency-Key"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["StandardWrite"];
            };
        };
        responses: {
            /** @description The decision of a dry run. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WriteResult"];
                };
            };
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WriteResult"];
                };
            };
        };
    };
    write_strategy: {
        parameters: {
            query?: {
                /** @description Decide, and store nothing; the id of the answer's memory is of nothing, then. */
                dry_run?: boolean;
            };
            header?: {
                /** @description Send a write again under the same key, and it is done once and answered the same for 24 hours. Another body under the same key is a conflict. */
                "Idempotency-Key"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["StrategyWrite"];
            };
        };
        responses: {
            /** @description The decision of a dry run. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WriteResult"];
                };
            };
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WriteResult"];
                };
            };
        };
    };
    write_transient_state: {
        parameters: {
            query?: {
                /** @description Decide, and store nothing; the id of the answer's memory is of nothing, then. */
                dry_run?: boolean;
            };
            header?: {
                /** @description Send a write again under the same key, and it is done once and answered the same for 24 hours. Another body under the same key is a conflict. */
                "Idempotency-Key"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TransientStateWrite"];
            };
        };
        responses: {
            /** @description The decision of a dry run. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WriteResult"];
                };
            };
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WriteResult"];
                };
            };
        };
    };
    write_own_type: {
        parameters: {
            query?: {
                /** @description Decide, and store nothing; the id of the answer's memory is of nothing, then. */
                dry_run?: boolean;
            };
            header?: {
                /** @description Send a write again under the same key, and it is done once and answered the same for 24 hours. Another body under the same key is a conflict. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                /** @description A type of your own. */
                type: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TenantTypeWrite"];
            };
        };
        responses: {
            /** @description The decision of a dry run. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WriteResult"];
                };
            };
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WriteResult"];
                };
            };
        };
    };
    get_memory: {
        parameters: {
            query?: {
                /** @description What was true then, as far as it is known: only memories that held at this time, whether or not they still do. Replaced ones held until what replaced them began. */
                as_of?: string | null;
                /** @description What was believed then: the answer this request had at that time. Nothing recorded, replaced, merged or changed later shows. What was erased since is gone from the past too. */
                known_at?: string | null;
            };
            header?: {
                /** @description The `ETag` of the memory as it was read: answered with 304 if it was not changed since. */
                "If-None-Match"?: string | null;
            };
            path: {
                /** @description A memory's id. */
                memory_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Memory"];
                };
            };
        };
    };
    delete_memory: {
        parameters: {
            query?: {
                /** @description Erase the turns that say it, and all others of its scope that hold its words, too. */
                with_turns?: boolean;
            };
            header?: {
                /** @description The `ETag` of the memory as it was read: refused with 412 if it was changed since. */
                "If-Match"?: string | null;
                /** @description Send a write again under the same key, and it is done once and answered the same for 24 hours. Another body under the same key is a conflict. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                /** @description A memory's id. */
                memory_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReceiptOut"];
                };
            };
        };
    };
    patch_memory: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the memory as it was read: refused with 412 if it was changed since. */
                "If-Match"?: string | null;
                /** @description Send a write again under the same key, and it is done once and answered the same for 24 hours. Another body under the same key is a conflict. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                /** @description A memory's id. */
                memory_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PatchBody"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Memory"];
                };
            };
        };
    };
    give_feedback: {
        parameters: {
            query?: never;
            header?: {
                /** @description Send a write again under the same key, and it is done once and answered the same for 24 hours. Another body under the same key is a conflict. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                /** @description A memory's id. */
                memory_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FeedbackBody"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FeedbackResult"];
                };
            };
        };
    };
    get_memory_history: {
        parameters: {
            query?: {
                /** @description What was true then, as far as it is known: only memories that held at this time, whether or not they still do. Replaced ones held until what replaced them began. */
                as_of?: string | null;
                /** @description What was believed then: the answer this request had at that time. Nothing recorded, replaced, merged or changed later shows. What was erased since is gone from the past too. */
                known_at?: string | null;
            };
            header?: never;
            path: {
                /** @description A memory's id. */
                memory_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["History"];
                };
            };
        };
    };
    query: {
        parameters: {
            query?: never;
            header?: {
                /** @description The header of a write's answer, to see that write where a replica answers questions. */
                "Memory-Position"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["QueryBody"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["QueryResult"];
                };
            };
        };
    };
    readyz: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Ready"];
                };
            };
        };
    };
    list_sessions: {
        parameters: {
            query?: {
                /** @description Most items of a page. */
                limit?: number;
                /** @description `next_cursor` of the page before; the first page without it. Filters and sorting stay the same. */
                cursor?: string | null;
                /** @description Your id of the user: what is stored is that user's, what is asked or listed is what they may see. */
                user_id?: string | null;
                /** @description Your id of the agent: what is stored is that agent's, what is asked or listed is what it may see. */
                agent_id?: string | null;
                /** @description Of these, only what is in scopes of this kind. */
                scope?: components["schemas"]["ScopeKind"] | null;
                /** @description List what is of every user and agent; takes a key with the role `admin`. Without it, and without a user or an agent, only what is in the global scope is listed. */
                all?: boolean;
                /** @description Only what is stored for this user, in whatever scope: the user's own, and those of agents with that user. */
                owner?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionPage"];
                };
            };
        };
    };
    list_turns: {
        parameters: {
            query?: {
                /** @description Most items of a page. */
                limit?: number;
                /** @description `next_cursor` of the page before; the first page without it. Filters and sorting stay the same. */
                cursor?: string | null;
                /** @description Your id of the user: what is stored is that user's, what is asked or listed is what they may see. */
                user_id?: string | null;
                /** @description Your id of the agent: what is stored is that agent's, what is asked or listed is what it may see. */
                agent_id?: string | null;
                /** @description Of these, only what is in scopes of this kind. */
                scope?: components["schemas"]["ScopeKind"] | null;
                /** @description List what is of every user and agent; takes a key with the role `admin`. Without it, and without a user or an agent, only what is in the global scope is listed. */
                all?: boolean;
                /** @description Only what is stored for this user, in whatever scope: the user's own, and those of agents with that user. */
                owner?: string | null;
                /** @description Your id of the conversation. */
                session_id?: string | null;
                status?: components["schemas"]["TurnStatus"] | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TurnPage"];
                };
            };
        };
    };
    ingest_turns: {
        parameters: {
            query?: {
                /** @description `sync` waits until the turns, 50 at most, are processed. `batch` has them extracted by the provider's batch endpoint, within a day and at half the price: none is shown what is stored or what another one led to. It takes TM_LLM_BATCH. */
                mode?: components["schemas"]["IngestMode"];
                /** @description Decide, and store nothing: implies `sync`. */
                dry_run?: boolean;
            };
            header?: {
                /** @description Send a write again under the same key, and it is done once and answered the same for 24 hours. Another body under the same key is a conflict. */
                "Idempotency-Key"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TurnsBody"];
            };
        };
        responses: {
            /** @description Processed, or decided in a dry run. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TurnsResult"];
                };
            };
            /** @description Successful Response */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TurnsResult"];
                };
            };
        };
    };
    get_turn: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description A turn's id. */
                turn_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TurnOut"];
                };
            };
        };
    };
    list_users: {
        parameters: {
            query?: {
                /** @description Most items of a page. */
                limit?: number;
                /** @description `next_cursor` of the page before; the first page without it. Filters and sorting stay the same. */
                cursor?: string | null;
                /** @description Your id of the user: what is stored is that user's, what is asked or listed is what they may see. */
                user_id?: string | null;
                /** @description Your id of the agent: what is stored is that agent's, what is asked or listed is what it may see. */
                agent_id?: string | null;
                /** @description Of these, only what is in scopes of this kind. */
                scope?: components["schemas"]["ScopeKind"] | null;
                /** @description List what is of every user and agent; takes a key with the role `admin`. Without it, and without a user or an agent, only what is in the global scope is listed. */
                all?: boolean;
                /** @description Only what is stored for this user, in whatever scope: the user's own, and those of agents with that user. */
                owner?: string | null;
                /** @description Only ids that hold this text, whatever the case. */
                q?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserPage"];
                };
            };
        };
    };
    delete_user: {
        parameters: {
            query?: {
                /** @description Wait, or leave it to a job; by default a job does what is large. */
                mode?: ("sync" | "async") | null;
            };
            header?: {
                /** @description Send a write again under the same key, and it is done once and answered the same for 24 hours. Another body under the same key is a conflict. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                /** @description A user's id, as memories are written with it. */
                user_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReceiptOut"];
                };
            };
            /** @description A job erases it. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReceiptOut"];
                };
            };
        };
    };
    get_profile: {
        parameters: {
            query?: {
                /** @description Your id of the agent: what is stored is that agent's, what is asked or listed is what it may see. */
                agent_id?: string | null;
                /** @description Most tokens of `text`. */
                token_budget?: number;
            };
            header?: never;
            path: {
                /** @description Your id of the user: what is stored is that user's, what is asked or listed is what they may see. */
                user_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProfileOut"];
                };
            };
        };
    };
    who_am_i: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WhoAmIOut"];
                };
            };
        };
    };
}
