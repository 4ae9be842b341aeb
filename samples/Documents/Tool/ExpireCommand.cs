using System.CommandLine;

namespace Voron.Documents.Tool;

/// <summary>Says when documents end, and deletes those that are due.</summary>
internal static class ExpireCommand
{
    public static Command Create()
    {
        var store = new StoreOptions();
        var path = new Argument<string?>("path") { Description = "The path of the time, such as $.expires.", Arity = ArgumentArity.ZeroOrOne };
        var never = new Option<bool>("--never") { Description = "Documents do not end." };
        var command = new Command("expire", "Sets the path of the time at which documents end; without one, deletes those that are due.") { path, never };
        store.AddTo(command).SetAction(async (parsed, stop) =>
        {
            if (parsed.GetValue(path) != null && parsed.GetValue(never))
                throw new ArgumentException("Give a path or --never: documents end at a time, or do not end.");
            using var documents = store.Open(parsed);
            var name = store.CollectionOf(parsed);
            if (parsed.GetValue(path) == null && !parsed.GetValue(never))
            {
                Console.WriteLine($"expired: {await store.CollectionOf(documents, parsed).ExpireAsync(stop)}");
                return 0;
            }

            var collection = await documents.SetExpiryAsync(name, parsed.GetValue(never) ? null : parsed.GetValue(path), stop);
            Console.WriteLine($"expires: {collection.Settings.ExpiryPath ?? "never"}");
            return 0;
        });
        return command;
    }
}
