"""Encoders, put together from slots that `conf/model/<slot>/` fills and `ptcli/model/<slot>/` implements.

How `Encoder` calls the slots, and what each must offer. Facts are class attributes, readable without construction.

position    {name: factory(shape)}, any number of them. `enters` says where:
            "embedding": forward(position_ids) -> (B, S, E), added to the token embeddings;
            "query_key": forward(position_ids, dtype=, local=) -> a callable that turns heads (B, S, 2, h, d_h), query
            and key; `local`: for layers that see a window;
            "bias": forward(position_ids) -> (B or 1, h, S, S), added to the attention scores of all layers;
            "score": forward(position_ids) -> Distances, once for all layers, and relation() -> what each attention
            owns: forward(query, key, distances, scale=, project=) -> (B, h, S, S), added to that layer's scores;
            "value": as "score"; its relation also has values(probabilities, distances) -> (B, h, S, d_h), added to the
            attention's output where `changes_values`. That needs the probabilities: the plain, slower path.
            A relation also declares `content` (whether query times key stays), `extra_scores` (how many more scores the
            scale counts), flops_per_token(length), for one head, and flops_per_batch(length), what is done once
            for all rows.
            `extrapolates`: whether any length can be told apart; where not, `max_positions` is the limit.
attention   factory(shape, dropout=, relations=): forward(hidden, context, queries=) -> (B, S, H);
            flops_per_token(length); flops_per_batch(length); window(layer): the places that a layer sees around each
            one, None for all. `output`: the matrix that leads out.
            `accepts`: the ways in ("query_key", "bias", "score", "value") that it takes; `causal`;
            `isolates`: whether it keeps the examples of one row apart. `sparse`: whether it takes the `band`, the
            `examples` and the `blocks` of a context in place of its mask.
ffn         factory(shape): forward(hidden); `activation`, which the masked-LM head uses too; flops_per_token();
            `down`: what leads out.
norm        factory(size): forward(hidden).
residual    factory(size, norm=, dropout=, first=): forward(hidden, sublayer, *args); enter(hidden): what the sub-layer
            sees. `first`: nothing but the embeddings comes before. `final_norm`: whether one more norm ends the stack.
sharing     an object: plan(num_layers) -> for each layer that runs, the numbers of its attention and of its ffn.
size        plain numbers, which the model's own keys take up through interpolation.
"""
