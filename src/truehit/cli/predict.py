"""`predict`: what will hit, why not more, and what the geometry means, from numbers alone."""

from truehit.cli import predict_options as opt
from truehit.cli.exits import Exit
from truehit.cli.options import AsJson, FailOn, On, Out


def command(
    out: Out = None,
    prompt: opt.Prompts = None,
    sends: opt.Sends = 2,
    sibling: opt.Siblings = None,
    longer: opt.Longer = None,
    output: opt.Output = 1,
    state_block: opt.StateBlock = None,
    attention_block: opt.AttentionBlock = None,
    drafted_block: opt.DraftedBlock = None,
    window: opt.Window = None,
    hash_unit: opt.HashUnit = None,
    fine: opt.Fine = False,
    drafts: opt.Drafts = 0,
    drop: opt.Drop = "none",
    retention: opt.Retention = "dense",
    budget: opt.Budget = 8192,
    threshold: opt.Threshold = None,
    pool: opt.Pool = None,
    max_model: opt.MaxModel = 1_048_576,
    checkpoint_alignment: opt.CheckpointAlignment = None,
    kernel_chunk: opt.KernelChunk = 1,
    in_flight: opt.InFlight = 1,
    rules: opt.RuleName = "default",
    save: opt.Save = None,
    on: On = None,
    fail_on: FailOn = "corrupt,stall",
    as_json: AsJson = False,
) -> Exit:
    """Predict carve, stored states and hits for prompt lengths, with one reason for every miss."""
    from truehit.cli import forecast, geometry_options, judging, predict_on, prediction
    from truehit.cli.output import json_target
    from truehit.cli.sources import rules_named

    target, classes = json_target(out, as_json), judging.classes_of(fail_on)
    rule_set = rules_named(rules)
    wishes = forecast.wishes_of(prompt or [], sends, sibling or [], longer or [], output)
    geometry = geometry_options.geometry_of(
        geometry_options.Blocks(
            tuple(state_block or ()),
            tuple(attention_block or ()),
            tuple(drafted_block or ()),
            tuple(window or ()),
        ),
        drop=drop,
        retention=retention,
        hash_unit_tokens=hash_unit,
        fine_hits=fine,
        drafts=drafts,
        budget_tokens=budget,
        long_prefill_threshold_tokens=threshold,
        max_model_tokens=max_model,
        checkpoint_alignment_tokens=checkpoint_alignment,
        kernel_chunk_tokens=kernel_chunk,
        steps_in_flight=in_flight,
    )
    forecast.check_lengths(geometry, wishes)
    sized = geometry_options.with_pool(geometry, pool, forecast.needed_blocks(geometry, wishes))
    forecasts = [forecast.forecast(sized, wish, rule_set) for wish in wishes]
    if save is not None:
        prediction.save_scenario(forecasts, save)
    if on is not None:
        return predict_on.report(on, sized, rule_set, forecasts, classes, as_json, target)
    return prediction.report(sized, rule_set.name, forecasts, classes, as_json, target)
