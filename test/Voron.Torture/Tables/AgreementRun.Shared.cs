namespace Voron.Torture.Tables;

/// <content>The index that both tables share.</content>
internal sealed partial class AgreementRun<TKey>
{
    private void ReadShared()
    {
        using var reading = _environment.BeginRead();
        CheckShared(SharedReader<TKey>.Of(reading), _content, _secondContent);
    }

    private void CheckShared(SharedReader<TKey> reader, TableContent content, TableContent others)
    {
        _setting.Add("query the shared index");
        reader.Add(_setting, Shared, content);
        reader.Add(_second, Shared, others);
        reader.Check(_random, Shared);
    }
}
